"""Kinds of joints: what each does, in its own frame."""
