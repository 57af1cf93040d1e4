"""Solids of finite elements: from a file of a casting to the standard data of a flexible body. Needs the extra ``mesh``."""
