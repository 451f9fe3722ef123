"""A CSV file as text: its encoding, its records with their lines."""
