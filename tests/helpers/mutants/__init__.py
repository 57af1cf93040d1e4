"""Mutation tests: every comparison, sign and constant of some files changed, one at a time; a test command must notice each.

    python -m mutants.run FILE [FILE ...] --command "python -m pytest -x -q tests/..."   (with tests/helpers on the path)

C files and their templates, and Python modules.
"""
