"""A CSV file as text: the folder it lies in, its encoding, its records with their lines."""
