"""Kinds of bodies: inertia, base parameters, and what deformation adds."""
