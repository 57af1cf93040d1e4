"""Motions of the tip of flexible arms: inversion, references, comparison (extra ``design``)."""
