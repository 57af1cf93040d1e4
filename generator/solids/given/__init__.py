"""Nodes, stiffness and mass from other programs: what is common to them, and the files they write."""
