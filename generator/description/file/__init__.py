"""The structure of a robot file: YAML, fields, sections."""
