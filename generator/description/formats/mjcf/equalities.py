"""``<equality>`` of MJCF: joints that follow others, and loops.

``connect`` is a spherical loop, ``weld`` a fixed one (spherical with ``torquescale`` 0). ``joint`` lets a joint follow another
where it can; what is left, and ``tendon`` between fixed tendons, are linear rows between coordinates (``gear``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import sympy

from elastogen.generator.description.couplings import couple
from elastogen.generator.description.formats.mjcf.places import placed, rotation
from elastogen.generator.joints.coupled import leader
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.loops.loop import WORLD, ClosedLoop, LoopEnd
from elastogen.generator.robot.names import to_identifier
from elastogen.generator.robot.robot import Robot

Numbers = Mapping[str, Any]
_HERE = [1.0, 0.0, 0.0, 0.0]


def constrained(
    robot: Robot,
    model: Numbers,
    bodies: Sequence[str],
    labels: Sequence[str],
    mimic: str,
    driven: frozenset[str],
    where: Location,
) -> Robot:
    """Return the robot with the active equalities of the compiled model.

    An equality has the numbers of what it ties (``ends``: joints, bodies, tendons or, with ``sites``, sites) and MuJoCo's
    ``data``. ``bodies`` and ``labels`` name bodies and joints, ``driven`` the joints with actuators.
    """
    positions: dict[str, sympy.Expr] = {}
    rows: list[tuple[str, sympy.Expr, Location]] = []
    loops: list[ClosedLoop] = []
    for k, equality in enumerate(model["equalities"], start=1):
        name = to_identifier(equality["name"] or f"{equality['type']}{k}", "loop")
        here = where.at("equality", equality["name"] or equality["type"])
        if equality["type"] in ("connect", "weld"):
            loop = _loop(name, equality, model, bodies, here)
            loops += [] if loop is None else [loop]
        elif equality["type"] in ("joint", "tendon"):
            if mimic == "error":
                raise here.error(f"<{equality['type']}>", "joints with coordinates of their own", "load(..., mimic='follow')")
            if mimic == "independent":
                continue
            residual = _residual(equality, model, labels, here)
            follower = labels[equality["ends"][0]] if equality["type"] == "joint" else ""
            if follower and follower not in positions and not _leads_back(follower, residual, positions):
                positions[follower] = leader(follower) - residual
            else:
                rows.append((name, residual, here))
        else:
            fix = "cut it, or set active='false' on the constraint"
            raise here.error(f"<{equality['type']}>", "connect, weld, joint or tendon", fix)
    robot = couple(robot, positions, where)
    loops += [gear for row in rows for gear in _gear(*row, robot)]
    if not loops:
        return robot
    driven |= {name for joint in robot.joints if joint.coupling and joint.name in driven for name in joint.coupling.leaders}
    joints = tuple(
        replace(joint, driven=joint.name in driven) if driven and joint.type.moves and joint.coupling is None else joint
        for joint in robot.joints
    )
    return replace(robot, joints=joints, loops=(*robot.loops, *loops))


def _loop(name: str, equality: Numbers, model: Numbers, bodies: Sequence[str], here: Location) -> ClosedLoop | None:
    """Between frames on two bodies; none where one of them is a mocap body, which a user moves."""
    data, ends = equality["data"], equality["ends"]
    fixed = equality["type"] == "weld" and data[10] != 0  # torquescale
    if equality["sites"]:
        sites = [model["sites"][end] for end in ends]
        numbers = [site["body"] for site in sites]
        places = [(site["quat"] if fixed else _HERE, site["pos"]) for site in sites]
    elif equality["type"] == "weld":  # its anchor in body 2, then the pose of body 2 in body 1
        numbers = [end - 1 for end in ends]
        places = [(data[6:10] if fixed else _HERE, data[3:6]), (_HERE, data[0:3])]
    else:
        numbers = [end - 1 for end in ends]
        places = [(_HERE, data[0:3]), (_HERE, data[3:6])]
    for number in numbers:
        if number >= 0 and model["bodies"][number]["mocap"]:
            here.warn(
                f"a mocap body, {bodies[number]}", "bodies that joints move: this constraint is left out", "move it yourself"
            )
            return None
    a, b = (
        LoopEnd(WORLD if number < 0 else bodies[number], placed(rotation(turn), at))
        for number, (turn, at) in zip(numbers, places, strict=True)
    )
    return ClosedLoop(name, "fixed" if fixed else "spherical", a, b)


def _residual(equality: Numbers, model: Numbers, labels: Sequence[str], here: Location) -> sympy.Expr:
    """Y - y0 - sum a_k (x - x0)^k, where x0 and y0 are where the file draws joints or how long tendons are there."""
    first, second = equality["ends"]
    of = _joint if equality["type"] == "joint" else _tendon
    y = of(first, model, labels, here)
    x = sympy.Integer(0) if second < 0 else of(second, model, labels, here)
    coefficients = [exact(c) for c in equality["data"][:5]]
    powers = coefficients[:1] if second < 0 else coefficients
    return y - sum((a * x**k for k, a in enumerate(powers)), sympy.Integer(0))


def _joint(number: int, model: Numbers, labels: Sequence[str], here: Location) -> sympy.Expr:
    joint = model["joints"][number]
    if joint["type"] not in ("hinge", "slide"):
        raise here.error(labels[number], "a joint with one coordinate", "name a hinge or a slide")
    return leader(labels[number]) - exact(joint["reference"])


def _tendon(number: int, model: Numbers, labels: Sequence[str], here: Location) -> sympy.Expr:
    tendon = model["tendons"][number]
    if tendon["joints"] is None:
        raise here.error(tendon["name"], "fixed tendons, which add up coordinates", "cut it, or set active='false' on it")
    return sum(
        (exact(c) * _joint(joint, model, labels, here) for joint, c in tendon["joints"]), sympy.Integer(0)
    )  # at the reference of all joints a tendon has its own length0


def _leads_back(follower: str, residual: sympy.Expr, positions: Mapping[str, sympy.Expr]) -> bool:
    """Whether a joint that is to be followed follows this one already."""
    followers = {leader(name): name for name in positions}
    waiting, seen = [followers[x] for x in residual.free_symbols if x in followers], set[str]()
    while waiting:
        name = waiting.pop()
        if leader(follower) in positions[name].free_symbols:
            return True
        if name not in seen:
            seen.add(name)
            waiting += [followers[x] for x in positions[name].free_symbols if x in followers]
    return False


def _gear(name: str, residual: sympy.Expr, here: Location, robot: Robot) -> list[ClosedLoop]:
    """A row that is linear in the coordinates that are left; none where it says nothing."""
    known = {leader(joint.name): joint.coupling.position for joint in robot.joints if joint.coupling is not None}
    left = sympy.expand(residual.xreplace(known))
    unknown = sorted(left.free_symbols, key=str)
    slopes = {x: left.diff(x) for x in unknown}
    if any(slope.free_symbols for slope in slopes.values()):
        fix = "remove one of the constraints on these joints"
        raise here.error(str(left), "a row that is linear in the coordinates, or joints that follow in one way", fix)
    constant = float(left.xreplace(dict.fromkeys(unknown, sympy.Integer(0))))
    if not unknown:
        if abs(constant) > 1e-9:
            raise here.error(constant, "constraints that do not contradict each other", "remove one of them")
        return []
    names = {leader(coordinate): coordinate for coordinate in robot.coordinate_names}
    coefficients = {names[x]: float(slope) for x, slope in slopes.items()}
    return [ClosedLoop(name, "gear", coefficients=coefficients, constant=-constant)]


def exact(number: float) -> sympy.Expr:
    """Whole numbers as such."""
    return sympy.Integer(round(number)) if number == round(number) else sympy.Float(float(number))
