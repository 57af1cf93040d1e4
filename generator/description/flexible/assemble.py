"""From the ``flexible:`` block of a link to its standard data: by its kind."""

from __future__ import annotations

from typing import Any

from elastogen.generator.description.flexible.check import check_body
from elastogen.generator.description.flexible.kind import DescribedLink
from elastogen.generator.description.flexible.kinds import FLEXIBLE_KINDS, sliding_types
from elastogen.generator.robot.bodies.flexible_body import FlexibleBody


def flexible_body(link: DescribedLink[Any], telescopic: str = "") -> FlexibleBody:
    """Return the standard data of a flexible link.

    ``telescopic`` says how the link slides through its joint: "smooth", "nodal", or "" where it does not.
    """
    kind = FLEXIBLE_KINDS[link.section.type]
    if telescopic:
        if not kind.slides:
            types = sliding_types()
            raise link.where.at("type").error(kind.name, f"{types}, for a link on a telescopic joint", f"use type: {types}")
        return kind.telescopic_body(link, telescopic)
    kind.check(link)
    body = kind.reduced(link) or kind.body(link)
    check_body(body, link.parameters, link.where)
    return kind.damped(link, body)
