"""A robot as a table, for notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

from elastogen.generator.robot.expressions import nominal

if TYPE_CHECKING:
    from elastogen.generator.robot.robot import Robot


def robot_html(robot: Robot) -> str:
    """Joints with their links and limits, then the coordinates; every text is escaped."""
    rows = []
    for joint in robot.joints:
        link, limits = robot.link(joint.child), joint.limits
        mass, hub = (float(nominal(part, robot.parameters)) for part in (link.whole_mass, link.body.mass))
        kind = "rigid" if link.flexible is None else f"flexible, {len(link.flexible.coordinates)} coordinates, hub {hub:.4g} kg"
        low, high = (("" if bound is None else f"{bound:.4g}") for bound in (limits.lower, limits.upper))
        rows.append((joint.name, joint.type.name, joint.parent, joint.child, kind, f"{mass:.4g}", low, high))
    head = ("joint", "kind", "from", "to", "link", "mass [kg]", "lower", "upper")
    names = ", ".join(escape(name) for name in robot.coordinate_names)
    title = f"<b>{escape(robot.name)}</b> {escape(robot.description)}"
    return f"<p>{title}</p><table>{_row(head, 'th')}{''.join(_row(row, 'td') for row in rows)}</table><p>q = ({names})</p>"


def _row(cells: Iterable[str], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"
