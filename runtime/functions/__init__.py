"""The compiled functions of a model behind numpy arrays."""
