"""Sending a plan: one create a row, its outcome recorded before and after."""
