"""Xacro, the macro language of URDF files, whose expressions are Python: only on request, and in a process of its own."""
