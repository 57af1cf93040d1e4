"""Ordinary C files of the sample robot ``robot``, and how they are written for another robot."""
