"""The report of a robot: one self-contained page, section by section."""
