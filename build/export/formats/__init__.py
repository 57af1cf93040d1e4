"""One module for each format of export: from a project to its files."""
