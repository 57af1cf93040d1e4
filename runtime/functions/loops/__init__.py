"""Methods of a model about its loops."""
