"""Operations of accelerations of points on the PUMA 560, and of reactions that come with inverse dynamics."""

from __future__ import annotations

import random
import warnings
from itertools import combinations, pairwise

import numpy as np

import elastogen
from benchmarks.race.robots import FILES, MissingPeerError, packages_prefix
from benchmarks.race.tables import table, verdict
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.functions.function import Function
from elastogen.generator.robot.robot import Point, Robot

POINTS, LINKS = 10, 6
SPREADS = (
    (2, 2, 2, 2, 1, 1), (0, 0, 0, 0, 0, 10), (0, 0, 0, 0, 5, 5), (0, 0, 0, 4, 3, 3), (1, 1, 2, 2, 2, 2), (0, 0, 0, 0, 0, 1),
)  # fmt: skip  # points on each link
DRAWN = 300  # spreads at random
BUILT_IN = ("puma560_geared", "puma560", "trtrr", "stanford", "two_link", "scara")
REACTIONS = 1.3  # times inverse dynamics


def operations(function: Function) -> int:
    """Multiplications and additions."""
    return function.program.count.mul + function.program.count.add


def with_points(robot: Robot, spread: tuple[int, ...]) -> Robot:
    """So many points on each link, no coordinate zero: those of tests/generator/points/test_points.py."""
    rng, points = np.random.default_rng(3), []
    for link, count in zip(robot.links[1:], spread, strict=True):
        for _ in range(count):
            x, y, z = rng.uniform(-0.3, 0.3, 3).tolist()
            pose = ((1, 0, 0, x), (0, 1, 0, y), (0, 0, 1, z), (0, 0, 0, 1))
            points.append(Point(f"p{len(points)}", link.name, pose=pose))
    return robot.with_points(*points)


def all_spreads() -> list[tuple[int, ...]]:
    """Every way to spread the points over the links."""
    places = POINTS + LINKS - 1
    bars = combinations(range(places), LINKS - 1)
    return [tuple(b - a - 1 for a, b in pairwise((-1, *chosen, places))) for chosen in bars]


def points(quick: bool) -> list[str]:
    """Accelerations of points on the PUMA 560."""
    puma = elastogen.load("puma560")
    (inverse_dynamics,) = derive_model(puma, ["inverse_dynamics"]).functions
    most = operations(inverse_dynamics)

    def count(spread: tuple[int, ...]) -> int:
        return operations(derive_model(with_points(puma, spread), ["point_accelerations"]).functions[0])

    rows = []
    for spread in SPREADS:
        found = count(spread)
        rows.append([", ".join(map(str, spread)), str(found), f"{found / most:.2f}", verdict(found <= most)])
    drawn = sorted(count(spread) for spread in random.Random(1).sample(all_spreads(), DRAWN // (5 if quick else 1)))
    below = sum(found <= most for found in drawn) / len(drawn)
    words = f"Accelerations of points on the PUMA 560, beside the {most} operations of its inverse dynamics:"
    spread_words = f"Of {len(drawn)} ways to spread ten points over its links, drawn at random from all {len(all_spreads())}, "
    return [
        words, "", *table(["points on links 1 to 6", "operations", "times inverse dynamics", "at most as many"], rows), "",
        f"{spread_words}{below:.0%} take at most as many; from {drawn[0]} to {drawn[-1]}, half of them at most "
        f"{drawn[len(drawn) // 2]}.", "",
    ]  # fmt: skip


def _robots() -> dict[str, Robot]:
    """Rigid built-in robots, and arms of example-robot-data where that is installed."""
    found = {name: elastogen.load(name) for name in BUILT_IN}
    try:
        folder = packages_prefix() / "share" / "example-robot-data" / "robots"
    except MissingPeerError:
        return found
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", elastogen.RobotWarning)
        locked = {"panda_finger_joint1": 0.0}
        arms = {"UR5": ("ur5", {}), "Panda, fingers locked": ("panda", locked), "Panda": ("panda", {})}
        return found | {name: elastogen.load(str(folder / FILES[key]), lock=lock) for name, (key, lock) in arms.items()}


def reactions() -> list[str]:
    """Reactions in the joints, in one function with inverse dynamics."""
    rows = []
    for name, robot in _robots().items():
        alone, both = map(operations, derive_model(robot, ["inverse_dynamics", "joint_reactions+inverse_dynamics"]).functions)
        rows.append([name, str(alone), str(both), f"{both / alone:.2f}", verdict(both <= REACTIONS * alone)])
    words = "Inverse dynamics with the reactions in all joints, in one function:"
    return [words, "", *table(["robot", "inverse dynamics", "with reactions", "times", f"at most {REACTIONS}"], rows), ""]


def report(quick: bool) -> list[str]:
    """Both."""
    return [*points(quick), *reactions()]
