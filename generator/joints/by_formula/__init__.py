"""Joints whose motion their user writes as expressions."""
