"""Functions of robots with loops."""
