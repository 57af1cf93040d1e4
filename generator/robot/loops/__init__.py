"""Loops of a mechanism: joints that close what would else be a tree."""
