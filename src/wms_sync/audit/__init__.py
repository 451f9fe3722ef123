"""Slices of the past read again: what changed without a sign is found, repaired and reported.

Belongs here: choosing and reading a slice, comparing it with the tables, marking what the service no longer has. Does
not: how windows are read (`extract`) and merged (`analytics`).
"""
