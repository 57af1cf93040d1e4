"""Fill a template with the fields of a context."""

from __future__ import annotations

import dataclasses
from functools import lru_cache
from typing import Any

import jinja2


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("elastogen.templates", ""),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


def fill(template: str, context: Any) -> str:
    """The text of a template of ``elastogen.templates``; ``context`` is a dataclass, its fields are the variables."""
    fields = {field.name: getattr(context, field.name) for field in dataclasses.fields(context)}
    return _environment().get_template(template).render(fields)
