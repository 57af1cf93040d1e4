"""The twelve sets of Euler angles: three rotations about moving axes, no two successive ones about the same axis."""

from __future__ import annotations

EULER_SETS = tuple(f"{i}{j}{k}" for i in "xyz" for j in "xyz" if j != i for k in "xyz" if k != j)
