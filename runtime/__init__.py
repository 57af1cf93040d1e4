"""Load a compiled model and call it with numpy arrays. Imports nothing of the generator."""
