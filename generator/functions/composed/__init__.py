"""Functions made from those of the catalogue: several as one, and their directional derivatives."""
