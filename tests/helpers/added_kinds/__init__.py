"""Kinds of joints and bodies that elastogen does not have: the recipes of docs/adding-joints.md."""
