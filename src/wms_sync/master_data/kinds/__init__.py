"""What can be created in the service: one value a kind, with its body, its columns, its sample and its files."""
