"""``elastogen verify``: checks of a robot's model by a second derivation, 50 digits, identities and C tools."""
