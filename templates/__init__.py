"""The text of every emitted file: jinja2 templates, plain data in, no physics inside."""
