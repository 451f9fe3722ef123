"""What a push would do: each row held against what the service is known to have. Nothing is sent or written."""
