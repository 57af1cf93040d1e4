"""What comes out of a robot file that is compared with a peer, and the comparison itself at random states."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import elastogen
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.robot.robot import Robot

Array = NDArray[Any]
State = Mapping[str, Array]


@dataclass
class Comparison:
    """What came out of one robot on one base."""

    name: str
    base: str
    joints: int = 0
    nq: int = 0
    nv: int = 0
    operations: int = 0  # of inverse dynamics
    result: str = "equal"
    errors: dict[str, float] = field(default_factory=dict)

    @property
    def worst(self) -> tuple[str, float]:
        """The function with the largest relative error."""
        return max(self.errors.items(), key=lambda item: item[1], default=("", 0.0))


def loaded(path: Path, found: Comparison) -> Robot | None:
    """The robot of a file, its numbers taken literally, and its size in ``found``; or None, and why it is refused."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", elastogen.RobotWarning)
            robot = elastogen.load(path, name="robot", snap=False)
    except elastogen.RobotError as problem:
        found.result = f"refused: {problem.field}: got {problem.given}: {problem.expected}"[:110]
        return None
    found.nq, found.nv = len(robot.coordinates), len(robot.velocities)
    found.joints = sum(not joint.type.holds for joint in robot.joints)
    return robot


def unphysical_link(robot: Robot) -> str:
    """A moving link that no body can be like."""
    for link in robot.links[1:]:
        body = link.body
        moments = np.linalg.eigvalsh(np.array(body.inertia, dtype=float))
        heavy = float(body.mass) > 0
        if (not heavy and moments.any()) or moments[0] < 0 or moments[0] + moments[1] < moments[2] * (1 - 1e-9):
            return link.name
    return ""


def measure(
    found: Comparison,
    robot: Robot,
    names: Sequence[str],
    states: Iterable[State],
    expected: Callable[[State], Mapping[str, Array]],
) -> None:
    """Evaluate functions at states; note the worst error of each, relative to the largest entry of what is expected."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", elastogen.RobotWarning)
        functions = derive_model(robot, names).functions  # of robots with loops also what those need
        derived = {function.name: function.program for function in functions if function.name in names}
    count = next(iter(derived.values())).count
    found.operations = count.mul + count.add
    for state in states:
        theirs = expected(state)
        for name, program in derived.items():
            (result,) = program.evaluate({argument.name: state[argument.name] for argument in program.inputs}, {}).values()
            error = float(np.max(np.abs(np.asarray(result) - theirs[name])))
            found.errors[name] = max(found.errors.get(name, 0.0), error / max(float(np.max(np.abs(theirs[name]))), 1e-9))
