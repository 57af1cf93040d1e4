"""``elastogen verify``: a robot's model judged by a second derivation, in 50 digits, by identities and by C tools."""
