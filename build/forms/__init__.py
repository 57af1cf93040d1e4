"""Closed forms as files: Python, C and PDF."""
