"""The command line: what an operator types, and what it prints."""
