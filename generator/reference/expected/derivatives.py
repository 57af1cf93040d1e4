"""Expected derivatives: differences of the description's own values, along random directions of all inputs at once.

A matrix of derivatives times a random direction involves every column, so a wrong entry shows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from zlib import crc32

import numpy as np

from elastogen.generator.reference.closed_loops import Closed
from elastogen.generator.reference.directions import CONFIGURATIONS, LENGTH, Slope, along, along_each, direction, tangential
from elastogen.generator.reference.expected.plain import Difference, Expectation, Found, solution, tree_forces
from elastogen.generator.reference.quantities import Array, Quantities
from elastogen.generator.robot.own.functions import OwnFunction
from elastogen.runtime.interface.argument import Argument

Values = Callable[[Quantities], "list[Array]"]
Sizes = Callable[[Quantities], Array]
DIRECTIONS = 2
ROUNDED = {
    1: 0.01,
    2: 1.0,
}  # share of values that counts as size of their derivatives, by order: 100 times what rounding leaves
CANCELLED = 0.01  # share of the largest output that counts as size of each: zeros are sums of what cancels


def _rng(name: str) -> np.random.Generator:
    return np.random.default_rng(crc32(name.encode()))


def _changes(of: Quantities, sizes: Mapping[str, int], rng: np.random.Generator) -> dict[str, Array]:
    """A direction of each input (states, numbers), zero where clamped."""
    found = {}
    for name, size in sizes.items():
        change = direction((len(of.states["q"]), size), rng)
        found[name] = change * of.free if size == of.n else change
    return found


def _flat(values: Sequence[Array]) -> Array:
    """Outputs one after the other (states, numbers)."""
    return np.concatenate([np.reshape(x, (len(x), -1)) for x in values], axis=1)


def _differences(
    found: Array, slope: Array, off: Array, size: Array, values: Array, order: int = 1
) -> tuple[Array, Array, Array]:
    """Errors relative to the products in the sum, and to the values, whose rounding errors differences have."""
    return found, slope, size + np.abs(slope) + ROUNDED[order] * np.abs(values) + off / 1e-9


def first_derivatives(names: Sequence[str], values: Values, sizes: Sizes, key: str) -> Expectation:
    """Blocks (outputs, velocities) of the derivatives by inputs, one output for each of them."""

    def check(of: Quantities, found: Found) -> list[Difference]:
        rng = _rng(key)
        rows: list[Difference] = []
        now = sizes(of)
        changes = [_changes(of, {name: of.n}, rng) for name in names]
        slopes = along_each(of, changes, values)
        for name, block, change, slope in zip(names, found, changes, slopes, strict=True):
            total, size = (np.einsum("srk,sk->sr", a, b) for a, b in
                           ((block, change[name]), (np.abs(block), np.abs(change[name]))))  # fmt: skip
            rows.append(_differences(total, slope.values[0], slope.off[0], size, now))
        return rows

    return check


def derivatives_of_accelerations(
    names: Sequence[str], accelerations: Values, forces: Values, sizes: Sizes, key: str
) -> Expectation:
    """The same of accelerations, as the change of forces along them: solving equations would cost digits."""

    def check(of: Quantities, found: Found) -> list[Difference]:
        if of.of.robot.loops:
            return _of_mechanisms(names, accelerations, of, found, key)
        rng = _rng(key)
        rows: list[Difference] = []
        at = of.elsewhere({**of.states, "qdd": accelerations(of)[0]})
        size, some = sizes(at), ~of.singular
        changes = [_changes(of, {name: of.n}, rng)[name] for name in names]
        answers = [np.einsum("srk,sk->sr", block, change) for block, change in zip(found, changes, strict=True)]
        moves = [{"qdd": answer, **({} if name == "F" else {name: change})}
                 for name, change, answer in zip(names, changes, answers, strict=True)]  # fmt: skip
        for name, block, change, slope in zip(names, found, changes, along_each(at, moves, forces), strict=True):
            expected = change if name == "F" else np.zeros_like(change)
            parts = np.einsum("sij,sj->si", np.abs(of.mass), np.einsum("srk,sk->sr", np.abs(block), np.abs(change)))
            a, b, c = _differences(slope.values[0], expected, slope.off[0], parts, size)
            rows.append((a[some], b[some], c[some]))
        return rows

    return check


def _of_mechanisms(names: Sequence[str], accelerations: Values, of: Quantities, found: Found, key: str) -> list[Difference]:
    """Of mechanisms: along them the loops stay closed, and velocities that close them do no work against what is left."""
    rng = _rng(key)
    rows: list[Difference] = []
    at = of.elsewhere({**of.states, "qdd": accelerations(of)[0]})
    closed = Closed(at)
    tree, J, G = tree_forces(at, at.at("qdd")), closed.J[:, closed.kept], np.abs(closed.null_space)
    closing = np.einsum("srk,sk->sr", np.abs(J), np.abs(at.at("qdd"))) + np.abs(closed.bias[:, closed.kept])
    working = np.einsum("skf,sk->sf", G, tree.size + np.abs(at.at("F")))

    def left(moved: Quantities) -> list[Array]:
        own = Closed(moved)
        forces = tree_forces(moved, moved.at("qdd")).value - moved.unloaded(moved.at("F"))
        return [own.acceleration_rows[:, own.kept], own.projected(forces)]

    for name in names:
        changes = _changes(of, {name: of.n}, rng)
        if closed.analysis.redundant and name in ("q", "qd"):
            changes = _closing_changes(closed, name, changes[name])
        blocks = [(found[names.index(key)], change) for key, change in changes.items()]
        answer, terms = (
            sum((np.einsum("srk,sk->sr", size(a), size(b)) for a, b in blocks), np.zeros(())) for size in (np.array, np.abs)
        )
        slope = along(at, {"qdd": answer, **changes}, left)
        parts = (np.einsum("srk,sk->sr", np.abs(J), terms),
                 np.einsum("skf,sk->sf", G, np.einsum("sij,sj->si", np.abs(at.mass), terms)))  # fmt: skip
        for value, off, size, now in zip(slope.values, slope.off, parts, (closing, working), strict=True):
            rows.append(_differences(value, np.zeros_like(value), off, closed.contradiction * size, now))
    return rows


def _closing_changes(closed: Closed, name: str, change: Array) -> dict[str, Array]:
    """A change of q or qd that keeps loops closed, velocities included.

    Derivatives that open the loops depend on which redundant rows the derivation leaves out.
    """
    free = (closed.null_space @ change[:, closed.independent, None])[..., 0]
    free = free * (LENGTH / np.maximum(np.abs(free).sum(axis=1, keepdims=True), LENGTH))  # no farther than others
    if name == "qd":
        return {name: free}

    def rates(moved: Quantities) -> list[Array]:
        return [np.einsum("srk,sk->sr", Closed(moved).J, moved.at("qd"))]

    opening = along(closed.of, {name: free}, rates).values[0]
    rate = -(np.linalg.pinv(closed.J[:, closed.kept]) @ opening[:, closed.kept, None])[..., 0]
    share = LENGTH / np.maximum(np.abs(rate).sum(axis=1, keepdims=True), LENGTH)
    return {name: share * free, "qd": share * rate}


_PAIRS = (((0,), ((0, 0, 0),)), ((1,), ((2, 0, 0),)), ((0, 1), ((0, 0, 0), (1, 0, 1), (1, 0, 1), (2, 1, 1))),
          ((0, 2), ((0, 0, 0), (3, 0, 1), (3, 0, 1))))  # fmt: skip
"""Inputs that change together, and the blocks q q, q qd, qd qd and q last with the two of them that each is between."""


def _quadratic(found: Found, blocks: Sequence[tuple[int, int, int]], changes: Sequence[Array]) -> tuple[Array, Array]:
    """Sum of left^T block right, and its size."""
    total, size = np.zeros((2, len(changes[0])))
    for block, a, b in blocks:
        total = total + np.einsum("si,sij,sj->s", changes[a], found[block], changes[b])
        size = size + np.einsum("si,sij,sj->s", np.abs(changes[a]), np.abs(found[block]), np.abs(changes[b]))
    return total, size


def second_derivatives(names: Sequence[str], values: Values, sizes: Sizes, key: str) -> Expectation:
    """Blocks q q, q qd, qd qd and q last of the Hessian of the weighted sum, last being qdd, in which it is linear."""

    def check(of: Quantities, found: Found) -> list[Difference]:
        rng = _rng(key)
        rows: list[Difference] = []

        def weighted(at: Quantities) -> list[Array]:
            return [np.einsum("sr,sr->s", values(at)[0], at.states["weights"])]

        now = np.abs(sizes(of) * of.states["weights"]).sum(axis=1)
        for chosen, blocks in _PAIRS:
            change = _changes(of, {names[k]: of.n for k in chosen}, rng)
            slope = along(of, change, weighted, order=2)
            total, size = _quadratic(found, blocks, list(change.values()))
            rows.append(_differences(total, slope.values[0], slope.off[0], size, now, 2))
        return rows

    return check


def second_derivatives_of_accelerations(
    names: Sequence[str], accelerations: Values, forces: Values, sizes: Sizes, key: str
) -> Expectation:
    """The same of accelerations a(t) = a + b t + c t^2 / 2: the forces of a + b t, twice differentiated, need -M c.

    Not of mechanisms, whose equations would have to be solved for b and c: that costs the digits that are compared.
    """

    def check(of: Quantities, found: Found) -> list[Difference]:
        if of.of.robot.loops:
            return []
        rng, some = _rng(key), ~of.singular
        rows: list[Difference] = []
        at = of.elsewhere({**of.states, "qdd": accelerations(of)[0]})
        weights = solution(of, of.states["weights"])
        size = np.abs(sizes(at) * weights).sum(axis=1)
        for chosen, blocks in _PAIRS:
            change = _changes(of, {names[k]: of.n for k in chosen}, rng)
            moved = {name: x for name, x in change.items() if name != "F"}
            first = change.get("F", 0.0) - along(at, moved, forces).values[0]
            change_of = solution(of, first)
            slope = along(at, {**moved, "qdd": change_of}, forces, order=2)
            total, terms = _quadratic(found, blocks, list(change.values()))
            expected = -(slope.values[0] * weights).sum(axis=1)
            parts = np.abs(slope.values[0] * weights).sum(axis=1)
            off = (slope.off[0] * np.abs(weights)).sum(axis=1)
            x, y, z = _differences(total, expected, off, terms + parts, size, 2)
            rows.append((x[some], y[some], z[some]))
        return rows

    return check


# ---- of any function


def tangent(values: Values, inputs: Sequence[Argument]) -> Expectation:
    """The change of outputs along d<input> of all inputs."""

    def check(of: Quantities, found: Found) -> list[Difference]:
        changes = {x.name[1:]: of.states[x.name] for x in inputs[len(inputs) // 2 :]}
        slope, now = along(of, changes, values, by_velocities=False), values(of)
        return [
            _differences(np.reshape(a, np.shape(b)), b, off, np.abs(b) + np.abs(b).max(), value)
            for a, b, off, value in zip(found, slope.values, slope.off, now, strict=True)
        ]

    return check


def sensitivity(
    ending: str, values: Values, inputs: Sequence[Argument], parametric: bool, key: str, *, solves: bool
) -> Expectation:
    """Jacobian, gradient or Hessian by all inputs, one after the other, and by live parameters behind them.

    Quaternions change tangentially. A second derivative along such a change alone depends on values at quaternions that are not
    unit; the mixed one with another change does not: d2f(s + t) - d2f(s - t), s without quaternions.

    Functions that ``solves`` marks, which solve for accelerations, have no value where the mass matrix is singular.
    """

    def check(of: Quantities, found: Found) -> list[Difference]:
        rng, now = _rng(key), _flat(values(of))
        rows: list[Difference] = []
        varied = inputs if ending == "_sensitivity" else inputs[:-1]
        live = [p.name for p in of.of.original.live_parameters] if parametric else []
        weights = None if ending == "_sensitivity" else of.states[inputs[-1].name]
        by, order = found[0], 2 if ending == "_hessian" else 1
        quaternions = of.of.original.quaternions

        def outputs(at: Quantities) -> list[Array]:
            return [
                _flat(values(at)) if weights is None else np.einsum("sr,sr->s", _flat(values(at)), at.states[inputs[-1].name])
            ]

        def compared(change: dict[str, Array], shifts: dict[str, float]) -> tuple[Array, Array, Slope]:
            slope = along(of, change, outputs, order=order, by_velocities=False, parameters=shifts or None)
            v = np.concatenate([*(np.reshape(x, (len(now), -1)) for x in change.values()),
                                np.broadcast_to(np.array(list(shifts.values())), (len(now), len(live)))], axis=1)  # fmt: skip
            return _applied(ending, by, v), _applied(ending, np.abs(by), np.abs(v)), slope

        for _ in range(DIRECTIONS):
            change = {x.name: direction((len(now), *(x.shape or (1,))), rng).reshape(len(now), *x.shape) for x in varied}
            for name in {*CONFIGURATIONS} & {*change} if quaternions else ():
                change[name] = tangential(change[name], of.states[name], quaternions)
            shifts = dict(zip(live, direction((1, len(live)), rng)[0] if live else (), strict=True))
            value = (
                CANCELLED * np.abs(now).max(axis=1, keepdims=True) + np.abs(now) if weights is None else np.abs(now).sum(axis=1)
            )
            if order == 1 or not quaternions:
                total, size, slope = compared(change, shifts)
                rows.append(_differences(total, slope.values[0], slope.off[0], size, value, order))
                continue
            other = {name: _times(x, quaternions, -1.0) if name in CONFIGURATIONS else x for name, x in change.items()}
            (a, size, plus), (b, _, minus) = compared(change, shifts), compared(other, shifts)
            off = plus.off[0] + minus.off[0]
            rows.append(_differences(a - b, plus.values[0] - minus.values[0], off, 2 * size, value, order))
            without = {name: _times(x, quaternions, 0.0) if name in CONFIGURATIONS else x for name, x in change.items()}
            total, size, slope = compared(without, shifts)
            rows.append(_differences(total, slope.values[0], slope.off[0], size, value, order))
        some = ~of.singular if solves else slice(None)
        return [(a[some], b[some], np.asarray(c)[some]) for a, b, c in rows]

    return check


def _times(change: Array, quaternions: Sequence[int], factor: float) -> Array:
    """The change, with that of quaternions times a factor."""
    found = np.array(change)
    for start in quaternions:
        found[:, start : start + 4] *= factor
    return found


def _applied(ending: str, by: Array, v: Array) -> Array:
    found: Array
    if ending == "_sensitivity":
        found = np.einsum("srk,sk->sr", by, v)
    elif ending == "_adjoint":
        found = np.einsum("sk,sk->s", by, v)
    else:
        found = np.einsum("si,sij,sj->s", v, by, v)
    return found


def own_derivatives(function: OwnFunction, values: Values) -> Expectation:
    """Of every output by every input that a user's function is differentiated by."""

    def check(of: Quantities, found: Found) -> list[Difference]:
        rng, blocks = _rng(function.name), iter(found)
        rows: list[Difference] = []
        now = values(of)
        for k in range(len(function.outputs)):
            for by in function.by:
                block = next(blocks)
                flat = direction((len(of.at("q")), block.shape[-1]), rng)
                shape = of.states[by].shape
                change = {by: flat * of.free if by == "q" else flat.reshape(shape)}
                slope = along(of, change, lambda at, k=k: [_flat([values(at)[k]])], by_velocities=by == "q")  # type: ignore[misc]
                v = change[by].reshape(len(flat), -1)
                total, size = (np.einsum("srk,sk->sr", a, b) for a, b in ((block, v), (np.abs(block), np.abs(v))))
                rows.append(_differences(total, slope.values[0], slope.off[0], size, _flat([now[k]])))
        return rows

    return check
