"""The kinds of joints; each describes its motion in a frame of its own."""
