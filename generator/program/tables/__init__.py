"""Sums of a program that differ in numbers and array elements only, as loops over constant tables."""
