"""Methods of a model about frames by name."""
