"""Functions in the papers' own notation."""
