"""Every rule that can be checked without the service: header, rows, and what rows owe each other."""
