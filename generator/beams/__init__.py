"""Curves along a beam, numbers only: shapes, integrals, finite elements, natural frequencies."""
