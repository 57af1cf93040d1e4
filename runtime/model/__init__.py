"""The compiled model."""
