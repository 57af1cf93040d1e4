"""Prints loops over constant tables."""
