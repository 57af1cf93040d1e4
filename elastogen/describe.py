"""The summary of a robot that ``elastogen check`` prints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from elastogen.generator.beams.natural_frequencies import loaded_frequencies, loses_stiffness
from elastogen.generator.robot.bodies.flexible_body import FlexibleBody
from elastogen.generator.robot.expressions import nominal
from elastogen.generator.robot.robot import Joint, Robot, Scalar
from elastogen.generator.robot.tree import tip_candidates

FULL = 100  # entries of a damping matrix that are worth a word


def describe(robot: Robot) -> str:
    """Return a readable summary: joints with limits, flexible links, masses, gravity, payload and live parameters."""

    def number(value: Scalar) -> str:
        return f"{nominal(value, robot.parameters):.6g}"

    def vector(values: tuple[Scalar, ...]) -> str:
        return f"({', '.join(number(value) for value in values)})"

    title = f"{robot.name}: {len(robot.coordinates)} coordinates, {len(robot.links)} links"
    lines = [title, f"  {robot.description}"] if robot.description else [title]
    lines.append("joints")
    width = max((len(joint.name) for joint in robot.joints), default=0)
    mass_of = {link.name: link.whole_mass for link in robot.links}
    for joint in robot.joints:
        child = robot.link(joint.child)
        hub = "" if child.flexible is None else f" (hub {number(child.body.mass)} kg)"
        mass = f"{joint.child} {number(mass_of[joint.child])} kg{hub}"
        kind = f"{joint.name:<{width}}  {joint.type.name:<10}"
        axis = f"  axis {vector(joint.axis)}" if "axis" in joint.type.takes else ""
        lines.append(f"  {kind}  {joint.parent} -> {mass}{axis}{_range(joint)}")
    lines += _sliding(robot) + _flexible(robot)
    total = sum(nominal(mass, robot.parameters) for mass in mass_of.values())
    up = nominal(robot.gravity[2], robot.parameters) > 0
    remark = " (along +z of the base: right for a robot that hangs)" if up else ""
    lines.append(f"mass of all links {total:.6g} kg, gravity {vector(robot.gravity)} m/s^2{remark}")
    lines.append(f"tip on {robot.tip or robot.links[-1].name}{_others(robot)}, payload {number(robot.payload.mass)} kg")
    lines.append("live parameters" if robot.live_parameters else "no live parameters: all numbers are folded in")
    for parameter in robot.live_parameters:
        unit = f" {parameter.unit}" if parameter.unit else ""
        doc = f"  {parameter.doc}" if parameter.doc else ""
        lines.append(f"  {parameter.name} = {parameter.value:.6g}{unit}{doc}")
    return "\n".join(lines)


def _others(robot: Robot) -> str:
    """Name other links that could be the tip."""
    others = [link for link in tip_candidates(robot.links[0].name, robot.joints) if link != robot.tip]
    shown = ", ".join(others[:5]) + (", ..." if len(others) > 5 else "")
    return f" (or {shown}: tip='...')" if others else ""


def _sliding(robot: Robot) -> list[str]:
    """Describe joints that slide along or with a beam: the kind, the number of elements, the element inside."""
    lines = [f"  {line}" for joint in robot.joints if (line := joint.type.beam_line(robot, joint))]
    return ["sliding joints", *lines] if lines else []


def _flexible(robot: Robot) -> list[str]:
    """Give the frequencies of the flexible links, clamped and with their loads, and the sampling rates that suit them."""
    lines = []
    for link in robot.links:
        if link.flexible is None:
            continue
        if link.flexible.telescope is not None and link.flexible.telescope.nodal:
            count = len(link.flexible.coordinates)
            lines.append(f"  {link.name}: {count} elastic coordinates, clamped where it is in its joint")
            continue
        found = loaded_frequencies(robot, link)
        shown = ", ".join(f"{w:.5g}" for w in found[:4]) + (", ..." if len(found) > 4 else "")
        lines.append(f"  {link.name}: {len(found)} elastic coordinates, clamped with its load {shown} rad/s")
        if link.flexible.reduction is not None:
            errors = ", ".join(f"{100 * error:.2g}" for error in link.flexible.reduction.errors)
            lines.append(f"    lowest modes of {link.flexible.reduction.elements} elements, frequencies too high by {errors} %")
        if link.flexible.solid is not None:
            lines += _solid(link.flexible.solid.report)
        lines += _damping(link.flexible)
        if loses_stiffness(link):
            lines.append(f"    without foreshortening it loses its stiffness when it turns at {found[0]:.5g} rad/s")
    return ["flexible links", *lines] if lines else []


def _solid(report: Mapping[str, Any]) -> list[str]:
    """Describe a link that is given by a mesh: size, supports, and the frequencies of the full and the reduced model."""
    count = f"{report['elements']} elements, " if "elements" in report else ""
    moved = report.get("settling")
    pairs = list(zip(report["frequencies"], report["full"], strict=False))
    worst = max((kept / full - 1 for kept, full in pairs), default=0.0)
    rows = [
        "    " + f"mode{k}: {kept:.5g} Hz (all elements {full:.5g} Hz), effective masses x, y, z "
        + ", ".join(f"{100 * share:.0f}" for share in masses) + " %"
        for k, ((kept, full), masses) in enumerate(zip(pairs, report["effective_masses"], strict=False), 1)
    ]  # fmt: skip
    held = [f"    {name}: {how}" for name, how in report["interfaces"].items()]
    head = f"    mesh of {count}{report['freedoms']} degrees of freedom, {report['mass']:.4g} kg; frequencies"
    return [f"{head} too high by at most {max(worst, 0.0):.1e}{f', {moved}' if moved else ''}", *held, *rows]


def _damping(body: FlexibleBody) -> list[str]:
    """Describe the damping of modes without a ratio of their own, and the cost of a full damping matrix."""
    beam, count = body.telescope, len(body.coordinates)
    parts = body.damping_parts or (beam.damping_parts if beam is not None else None)
    if parts is not None:
        ratio = "" if beam is not None and beam.damping else f", ratios {parts.internal / 2:.3g} s times their frequencies"
        own = f"; {len(parts.modal)} of its modes otherwise, by their own ratios" if parts.modal else ""
        return [f"    internal friction{ratio}{own}"]
    matrices = [body.damping, *(matrix for _, matrix in beam.damping)] if beam is not None else [body.damping]
    entries = sum(entry != 0 for matrix in matrices for row in matrix for entry in row)
    if entries < max(FULL, 6 * count):
        return []
    fewer = f"ratios of the lowest two modes alone take {3 * count}"
    return [f"    its damping matrix is full: {entries} multiplications in the equations of motion; {fewer}"]


def _range(joint: Joint) -> str:
    limits = joint.limits
    if limits.lower is None and limits.upper is None:
        return ""
    lower = "-inf" if limits.lower is None else f"{limits.lower:.4g}"
    upper = "inf" if limits.upper is None else f"{limits.upper:.4g}"
    return f"  [{lower}, {upper}] {joint.unit}"
