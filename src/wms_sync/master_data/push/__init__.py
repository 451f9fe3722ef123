"""Applying a plan: one create per row, recorded before and after it is sent; what a push keeps of its file."""
