"""Derivations as a person writes them: numbered equations with named intermediates."""
