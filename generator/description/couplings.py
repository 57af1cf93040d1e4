"""Joints that follow others: mimic joints of URDF, ``follows:`` of robot files; and joints that are locked at a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

import sympy

from elastogen.generator.description.file.robot_file import JointSection
from elastogen.generator.joints.coupled import COUPLED, CoupledKind, leader
from elastogen.generator.joints.kinds import FIXED
from elastogen.generator.robot.location import Location, did_you_mean
from elastogen.generator.robot.own.term_expressions import parse_term
from elastogen.generator.robot.own.terms import symbol
from elastogen.generator.robot.placement import by_screws, product
from elastogen.generator.robot.robot import Actuation, Coupling, Joint, Limits, Robot

MAX_OPERATIONS, MAX_DEPTH = 2000, 100  # of a position, with those of the joints that it follows put into it


def couple(robot: Robot, positions: Mapping[str, sympy.Expr], where: Location) -> Robot:
    """Return the robot in which the joints called by ``positions`` follow others.

    Positions are expressions in the coordinates of other joints (symbols :func:`leader`) and in parameters; a joint that is
    followed may itself follow. Limits of followers have no meaning and are dropped.
    """
    for name in positions:
        joint = next(joint for joint in robot.joints if joint.name == name)
        if joint.type.name not in COUPLED:
            raise where.at("joints", name).error(
                joint.type.name, f"a joint that can follow others: {', '.join(COUPLED)}", "remove the coupling"
            )
    free = [
        coordinate.name(joint.name)
        for joint in robot.joints
        if joint.name not in positions and joint.type.coordinates == joint.type.velocities
        for coordinate in joint.type.coordinates
    ]
    symbols = {leader(name): name for name in free}
    solved = _solved(positions, symbols.keys(), where)
    joints = []
    for joint in robot.joints:
        if joint.name not in positions:
            joints.append(joint)
            continue
        position = solved[joint.name]
        _check_leaders(position, symbols, robot, where.at("joints", joint.name))
        leaders = tuple(name for symbol, name in symbols.items() if symbol in position.free_symbols)
        if joint.elasticity is not None:
            here = where.at("joints", joint.name, "elasticity")
            raise here.error("a spring", "no spring in a joint that follows others", "put it into the joint that leads")
        joints.append(_follower(joint, position, leaders))
    return replace(robot, joints=tuple(joints))


def read_followers(sections: Sequence[JointSection], robot: Robot, where: Location) -> dict[str, sympy.Expr]:
    """Positions of the joints with ``follows:``, in the language of terms: q('joint'), parameters, elementary functions."""
    found = {}
    names = {coordinate: symbol(f"q[{coordinate}]") for coordinate in robot.coordinate_names}
    for section in sections:
        if section.follows is not None:
            position = parse_term(section.follows, robot, where.at("joints", section.name, "follows"))
            found[section.name] = position.xreplace({other: leader(name) for name, other in names.items()})
    return found


def _solved(positions: Mapping[str, sympy.Expr], free: Set[sympy.Symbol], where: Location) -> dict[str, sympy.Expr]:
    """The positions of followers in coordinates that follow nothing, each solved once and put into those that follow it."""
    names = {leader(name): name for name in positions}
    followed = {
        name: sorted(names[found] for found in position.free_symbols & names.keys()) for name, position in positions.items()
    }
    waiting = {name: len(others) for name, others in followed.items()}
    followers: dict[str, list[str]] = {name: [] for name in positions}
    for name, others in followed.items():
        for other in others:
            followers[other].append(name)
    ready = [name for name, count in waiting.items() if count == 0]
    solved: dict[str, sympy.Expr] = {}
    extents: dict[str, tuple[int, int]] = {}
    linear: dict[str, bool] = {}
    while ready:
        name = ready.pop()
        known = {leader(other): solved[other] for other in followed[name]}
        extents[name] = _extent(positions[name], {leader(other): extents[other] for other in followed[name]})
        operations, depth = extents[name]
        if operations > MAX_OPERATIONS or depth > MAX_DEPTH:
            expected = (
                f"at most {MAX_OPERATIONS} operations, {MAX_DEPTH} inside each other, with those of the joints that it follows"
            )
            raise where.at("joints", name).error(str(positions[name]), expected, "let it follow a joint that moves by itself")
        solved[name] = positions[name].xreplace(known)
        linear[name] = _is_linear(positions[name], free | names.keys()) and all(linear[other] for other in followed[name])
        if known and linear[name]:  # powers of sums of powers would not end
            solved[name] = sympy.expand(solved[name])
            extents[name] = _extent(solved[name], {})
        for other in followers[name]:
            waiting[other] -= 1
            if waiting[other] == 0:
                ready.append(other)
    for name in positions:
        if name not in solved:
            here = where.at("joints", name)
            raise here.error(str(positions[name]), "joints that follow others, not in a circle", "let one of them be free")
    return solved


def _extent(position: sympy.Expr, inner: Mapping[sympy.Symbol, tuple[int, int]]) -> tuple[int, int]:
    """The number of operations, symbols and numbers in a position, and its depth, with substitutions."""
    if not position.args:
        return inner.get(position, (1, 1))
    sizes, depths = zip(*(_extent(part, inner) for part in position.args), strict=True)
    return 1 + sum(sizes), 1 + max(depths)


def _is_linear(position: sympy.Expr, coordinates: Set[sympy.Symbol]) -> bool:
    """Whether the position is a constant and multiples of coordinates."""
    leaders = position.free_symbols & coordinates
    return all(not position.diff(each).free_symbols & leaders for each in leaders)


def _check_leaders(position: sympy.Expr, symbols: Mapping[sympy.Symbol, str], robot: Robot, where: Location) -> None:
    parameters = {parameter.symbol for parameter in robot.parameters.values()}
    for unknown in sorted(position.free_symbols - set(symbols) - parameters, key=str):
        given = str(unknown).removeprefix("q(").removesuffix(")")
        fix = did_you_mean(given, list(symbols.values()), "name one of them")
        raise where.error(given, "the coordinate of another joint", fix)


def _follower(joint: Joint, position: sympy.Expr, leaders: tuple[str, ...]) -> Joint:
    plain = replace(joint, limits=Limits())
    if leaders:
        return replace(plain, type=COUPLED[joint.type.name], coupling=Coupling(position, leaders))
    moved = by_screws(joint.type.screws(joint), (position,))
    return replace(plain, type=FIXED, actuation=Actuation(), before=product(joint.before, moved))


def lock(robot: Robot, values: Mapping[str, float | Sequence[float]], where: Location) -> Robot:
    """Return the robot with joints fixed at values of their coordinates [rad] or [m]."""
    found = {joint.name: joint for joint in robot.joints}
    joints = list(robot.joints)
    for name, given in values.items():
        here = where.at("lock", str(name))
        if name not in found:
            raise here.error(name, "the name of a joint", did_you_mean(str(name), list(found), f"known are {', '.join(found)}"))
        joint = found[name]
        if not joint.type.moves or joint.type.pose(joint, joint.type.neutral) is None:
            raise here.error(joint.type.name, "a joint that turns or slides by itself", "lock another one")
        numbers = tuple(given) if isinstance(given, (list, tuple)) else (given,)
        real = all(isinstance(x, (int, float)) and not isinstance(x, bool) and abs(x) < 1e9 for x in numbers)
        if len(numbers) != len(joint.type.coordinates) or not real:
            raise here.error(given, f"{len(joint.type.coordinates)} number(s), [rad] or [m]", "give one for each coordinate")
        moved = joint.type.pose(joint, numbers)
        assert moved is not None
        fixed = replace(
            joint, type=FIXED, before=product(joint.before, moved), limits=Limits(), actuation=Actuation(), elasticity=None,
            details={},
        )  # fmt: skip
        joints[joints.index(joint)] = fixed
        held = dict(zip((leader(c.name(joint.name)) for c in joint.type.coordinates), map(sympy.sympify, numbers), strict=True))
        joints = [_held(follower, held) for follower in joints]
        found = {joint.name: joint for joint in joints}
    return replace(robot, joints=tuple(joints))


def _held(joint: Joint, values: Mapping[sympy.Symbol, sympy.Expr]) -> Joint:
    """A joint whose leader is locked: it follows those that are left, or is fixed itself."""
    if joint.coupling is None or not isinstance(joint.type, CoupledKind):
        return joint
    position = joint.coupling.position.xreplace(dict(values))
    left = tuple(name for name in joint.coupling.leaders if leader(name) in position.free_symbols)
    if left:
        return replace(joint, coupling=Coupling(position, left))
    free = replace(joint, type=joint.type.free, coupling=None)
    return replace(
        free, type=FIXED, actuation=Actuation(), before=product(joint.before, by_screws(free.type.screws(free), (position,)))
    )
