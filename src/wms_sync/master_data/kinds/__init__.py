"""The kinds of master data that can be created in the service: one value per kind, with its body and its sample."""
