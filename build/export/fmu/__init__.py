"""Functional mock-up units: variables, C behind the interface, the archive."""
