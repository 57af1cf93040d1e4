"""The catalogue: every function that can be emitted, by subject, and its derivation."""
