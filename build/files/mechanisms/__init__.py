"""C files of robots with loops."""
