"""Render -> write -> compile with cffi -> cache; export bundles."""
