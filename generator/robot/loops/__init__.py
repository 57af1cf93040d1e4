"""Loops of a mechanism, which close the tree of joints."""
