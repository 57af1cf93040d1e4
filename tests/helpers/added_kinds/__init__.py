"""Kinds of joints and bodies that elastogen does not have: the recipes of docs/own/adding-joints.md."""
