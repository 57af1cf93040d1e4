"""The formats of export, one module each: from a project to its files."""
