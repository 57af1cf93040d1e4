"""``elastogen check``: validate a robot and describe it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click

from elastogen.commands.shared.options import (
    AS_JSON,
    LOADING,
    TALKING,
    load,
    load_with_warnings,
    print_json,
    warned_already,
    with_options,
)

if TYPE_CHECKING:
    from elastogen.generator.robot.robot import Robot


@click.command()
@LOADING
@AS_JSON
@TALKING
@with_options
def command(options: SimpleNamespace) -> None:
    """Validate a robot and describe it."""
    from elastogen.describe import describe
    from elastogen.describe_loops import describe_loops
    from elastogen.snapped import describe_snapped

    if options.as_json:
        robot, messages = load_with_warnings(options)
        print_json(facts(robot, messages))
        return
    robot = load(options)
    print(describe(robot))
    loops = describe_loops(robot)
    if loops:
        print(loops)
    with warned_already():
        literal, _ = load_with_warnings(options, snap=False)
    text = describe_snapped(robot, literal)
    if text:
        print(text)


def facts(robot: Robot, messages: list[str]) -> dict[str, Any]:
    """Describe a robot for scripts."""
    from elastogen.describe_loops import loop_facts
    from elastogen.generator.robot.expressions import nominal

    def number(value: Any) -> float:
        return float(nominal(value, robot.parameters))

    return {
        "name": robot.name,
        "description": robot.description,
        "coordinates": [{"name": c.name, "unit": c.unit, "elastic": c.elastic} for c in robot.coordinates],
        "joints": [{"name": j.name, "type": j.type.name, "parent": j.parent, "child": j.child} for j in robot.joints],
        "links": [{"name": link.name, "flexible": link.flexible is not None} for link in robot.links],
        "gravity": [number(value) for value in robot.gravity],
        "live_parameters": [{"name": p.name, "value": p.value, "unit": p.unit} for p in robot.live_parameters],
        **({"mechanism": loop_facts(robot)} if robot.loops else {}),
        "warnings": messages,
    }
