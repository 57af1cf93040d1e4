"""Contexts for the C files of observers and estimators."""
