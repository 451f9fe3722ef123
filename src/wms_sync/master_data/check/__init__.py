"""Every rule that can be checked without the service: on the header, on rows, and between rows."""
