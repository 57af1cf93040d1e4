"""The rest of a rigid link when a part of its mass becomes a flexible body: mass and centre are kept, or a message says so.

All moments are those of paper 002 (19), int (r; 1) (r; 1)^T dm: those of the rest are the link's less the flexible body's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from elastogen.generator.robot.bodies.flexible_body import FlexibleBody
from elastogen.generator.robot.expressions import nominal
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.moments import Moments, moments, pseudo_inertia, rigid_body
from elastogen.generator.robot.placement import inverse, product
from elastogen.generator.robot.robot import Body, Matrix, Parameter

ROUNDING = 1e-9  # relative: what masses and moments of a file say about the rest


@dataclass(frozen=True)
class Parts:
    """A rigid link, and the flexible body in it, with its tip body and its pose in the link."""

    link: Body
    flexible: FlexibleBody
    tip: Body
    pose: Matrix


@dataclass(frozen=True)
class Rest:
    """What stays rigid: on the hub, in the frame of the link; and on the tip, the given tip body included."""

    on_hub: Body
    on_tip: Body


def rest_of_link(parts: Parts, place: str, parameters: Mapping[str, Parameter], where: Location) -> Rest:
    """The rest of the link's mass on the "hub" or on the "tip", or dropped ("none")."""
    pose = _array(parts.pose)
    tip_pose = product(parts.pose, parts.flexible.tip_pose)
    on_tip = _array(tip_pose)
    body = moments(parts.flexible.mass, parts.flexible.first_moments, _array(parts.flexible.second_moments))
    flexible = pose @ body @ pose.T + on_tip @ _of(parts.tip) @ on_tip.T
    link = _of(parts.link)
    if place == "none":
        _report_dropped(_numbers(link, parameters), _numbers(flexible, parameters), where.at("rest"))
        return Rest(Body(), parts.tip)
    rest = _physical(link - flexible, link, parameters, where.at("flexible"))
    if rest is None:
        return Rest(Body(), parts.tip)
    if place == "hub":
        return Rest(_rigid(rest), parts.tip)
    back = _array(inverse(tip_pose))
    return Rest(Body(), _rigid(_of(parts.tip) + back @ rest @ back.T))


def _physical(rest: Moments, link: Moments, parameters: Mapping[str, Parameter], where: Location) -> Moments | None:
    """The rest if it is physical, else with another inertia, never with another mass or centre; None: no rest."""
    J, whole = _numbers(rest, parameters), _numbers(link, parameters)
    mass, all_of_it = J[3, 3], whole[3, 3]
    size = float(np.sqrt(np.trace(whole[:3, :3]) / all_of_it)) if all_of_it > 0 else 0.0  # of the link, about its frame [m]
    if mass < -ROUNDING * all_of_it or all_of_it == 0:
        given = f"{all_of_it - mass:.6g} kg for the flexible body and its tip"
        raise where.error(
            given, f"at most the {all_of_it:.6g} kg of the link", "lower mass_per_length, or give the link's mass"
        )
    if mass <= ROUNDING * all_of_it:
        if np.abs(J[:3, 3]).max() > 1e3 * ROUNDING * all_of_it * size:
            shift = np.round(J[:3, 3] / all_of_it, 6).tolist()
            expected = "some mass left over to keep the centre of the link where it is"
            fix = f"lower mass_per_length, or choose rest: none, which moves the centre by {[-entry for entry in shift]} m"
            raise where.error(f"{all_of_it:.6g} kg, all of the link", expected, fix)
        _report_inertia(whole, whole - J, where)
        return None
    centre = J[:3, 3] / mass
    scatter, axes = np.linalg.eigh(J[:3, :3] - mass * np.outer(centre, centre))
    if scatter[0] >= -ROUNDING * np.trace(whole[:3, :3]):
        return rest
    if any(isinstance(entry, sympy.Expr) and entry.free_symbols for entry in rest.flat):
        expected = "a rest of the link that a body can have, where parameters are in it"
        raise where.error(f"second moments {scatter.tolist()} kg m^2", expected, "lower mass_per_length, or give numbers")
    least = (axes * np.maximum(scatter, 0)) @ axes.T
    kept = moments(mass, J[:3, 3], least + mass * np.outer(centre, centre))
    _report_inertia(whole, whole - J + kept, where)
    return kept


def _report_inertia(before: Moments, after: Moments, where: Location) -> None:
    """Warn of moments of inertia that are not those of the link."""
    old, new = (rigid_body(J).inertia for J in (before, after))
    if any(abs(float(old[i][j]) - float(new[i][j])) > ROUNDING * np.trace(before[:3, :3]) for i in range(3) for j in range(3)):
        shown = [", ".join(f"{float(tensor[i][i]):.4g}" for i in range(3)) for tensor in (old, new)]
        where.warn(
            f"moments xx, yy, zz of the link {shown[0]} -> {shown[1]} kg m^2",
            "a rest that a body can have (the link's mass and centre are kept)",
            "lower mass_per_length, or move the frame, until the flexible body is a part of the link",
        )


def _report_dropped(before: Moments, after: Moments, where: Location) -> None:
    centres = [(J[:3, 3] / J[3, 3]).round(6).tolist() if J[3, 3] else "nowhere" for J in (before, after)]
    where.warn(
        f"the link's mass {before[3, 3]:.6g} -> {after[3, 3]:.6g} kg, its centre {centres[0]} -> {centres[1]} m",
        "the mass and the centre of the base description",
        "choose rest: hub or rest: tip if they are to be kept",
    )


def _array(matrix: Matrix) -> Moments:
    return np.array(matrix, dtype=object)


def _of(body: Body) -> Moments:
    return pseudo_inertia(body.mass, np.array(body.com, dtype=object), _array(body.inertia))


def _numbers(J: Moments, parameters: Mapping[str, Parameter]) -> Moments:
    return np.array([[nominal(entry, parameters) for entry in row] for row in J], dtype=float)


def _rigid(J: Moments) -> Body:
    """The body with these moments, in plain numbers where no parameter is in them."""
    symbolic = any(isinstance(entry, sympy.Expr) and entry.free_symbols for entry in J.flat)
    exact: Any = J if symbolic else np.array(J, dtype=float)
    return rigid_body(exact)
