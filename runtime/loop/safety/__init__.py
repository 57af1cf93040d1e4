"""What a loop allows, and how it comes to rest when that is exceeded."""
