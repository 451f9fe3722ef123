"""What a push would do: each row is compared with what the service is known to have. Nothing is sent or written."""
