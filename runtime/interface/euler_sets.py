"""The twelve sets of Euler angles: three rotations about moving axes, no two in a row about the same one."""

from __future__ import annotations

EULER_SETS = tuple(f"{i}{j}{k}" for i in "xyz" for j in "xyz" if j != i for k in "xyz" if k != j)
