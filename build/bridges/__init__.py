"""Compiled parts of bridges: what other tools load beside the model."""
