"""The matrices of single finite elements, paper 003 (8)-(27).

M_ij, K_ij and S_ij are over the coordinates of the robot, with the boundary conditions of 003, 4.3: a clamped first node has
none; in a link that slides through its joint from node to node, rows and columns of the element inside vanish.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

from elastogen.generator.algorithms.composite_bodies import mass_matrix_by_composites
from elastogen.generator.beams.piecewise import Curve, Number, common, to_scalar
from elastogen.generator.beams.sections import part_of
from elastogen.generator.bodies.shaped_body import ShapedBody
from elastogen.generator.functions.catalogue import Derived, Entry, flat
from elastogen.generator.functions.variants import Variant
from elastogen.generator.program.graph import Value
from elastogen.generator.program.lowering import Lowering
from elastogen.generator.robot.bodies.flexible_body import FlexibleBody
from elastogen.generator.robot.robot import Robot
from elastogen.generator.sliding.clamped_bodies import clamped_part
from elastogen.generator.sliding.elements_inside import Indicators
from elastogen.generator.spatial.inertia import Inertia
from elastogen.runtime.interface.argument import Argument


@dataclass(frozen=True)
class _Element:
    """Element j of link i: its frame, the link's coordinates, and its ends as s = x / L."""

    frame: int
    coordinates: tuple[int, ...]
    part: FlexibleBody  # the element alone, as its joint holds it
    shapes: tuple[tuple[Number, ...], ...]  # of every coordinate of the link: coefficients of powers of t from 0 to 1


def _exact(curve: Curve) -> bool:
    return not any(isinstance(c, float) for piece in curve.pieces for c in piece)


def _is_divided(body: FlexibleBody | None) -> bool:
    """Whether a body is a beam of elements in a plane with nodes fixed in its material."""
    if body is None or body.beam is None or body.clamp_moves:
        return False
    return body.centreline is not None and all(_exact(mode.shape) for mode in body.beam.modes)


def _elements(variant: Variant) -> list[_Element]:
    found, bodies = [], {link.name: link.flexible for link in variant.robot.links}
    carried = {joint.child: joint.name for joint in variant.robot.joints}
    for index, frame in enumerate(variant.mechanism.frames):
        body = bodies.get(frame.label)
        if frame.elastic is None or body is None or body.beam is None or not _is_divided(body):
            continue
        curves = common(*(mode.shape for mode in body.beam.modes))
        for number, (start, end) in enumerate(pairwise(curves[0].breaks)):
            shapes = tuple(curve.pieces[number] for curve in curves)
            part = part_of(body.beam, start, end)
            if body.telescope is not None:
                part = clamped_part(part, body, carried[frame.label])
            found.append(_Element(index, frame.elastic.coordinates, part, shapes))
    return found


def _lowering(variant: Variant) -> Lowering:
    return Lowering(variant.graph, variant.robot, Indicators(variant.graph, variant.robot, variant.elements).symbols)


def mass_matrices(variant: Variant) -> Derived:
    """M_ij = int mu J_ij^T J_ij dx (003 (12))."""
    q, lower, values = variant.input("q"), _lowering(variant), list[Value]()
    placed = variant.place(q)
    bare = [replace(frame, inertia=Inertia.zero(variant.graph), elastic=None) for frame in variant.mechanism.frames]
    for element in _elements(variant):
        part = ShapedBody.lowered(lower, element.part, element.coordinates)
        frames = [*bare]
        frames[element.frame] = replace(frames[element.frame], elastic=part)
        mechanism = replace(variant.mechanism, frames=tuple(frames))
        values += flat(variant.masked(mass_matrix_by_composites(mechanism, placed, q), 0))
    return Derived((values,))


def stiffness_matrices(variant: Variant) -> Derived:
    """K_ij = EI int U_ij^T U_ij dx (003 (22), (27))."""
    lower, zero, values = _lowering(variant), variant.graph.value(0), list[Value]()
    for element in _elements(variant):
        K = [[zero] * variant.size for _ in range(variant.size)]
        for i, row in zip(element.coordinates, element.part.stiffness, strict=True):
            for j, entry in zip(element.coordinates, row, strict=True):
                K[i][j] = lower.value(entry)
        values += flat(variant.masked(K, 0))
    return Derived((values,))


def _degree(variant: Variant) -> int:
    return max(len(shape) for element in _elements(variant) for shape in element.shapes)


def shape_vectors(variant: Variant) -> Derived:
    """S_ij (003 (17)) as polynomials in t = x / l_ie: w_ij = sum_k t^k S_ij,k^T q."""
    lower, zero, values = _lowering(variant), variant.graph.value(0), list[Value]()
    width = _degree(variant)
    for element in _elements(variant):
        rows = [[zero] * width for _ in range(variant.size)]
        for k, shape in zip(element.coordinates, element.shapes, strict=True):
            for power, c in enumerate(shape):
                rows[k][power] = lower.value(to_scalar(c))
        values += flat(rows)
    return Derived((values,))


def _applies(robot: Robot) -> bool:
    linear = any(link.flexible is not None and link.flexible.tip == "linear" for link in robot.links)
    return any(_is_divided(link.flexible) for link in robot.links) and not linear


_WHY = (
    "only for robots with beams of elements in a plane, not reduced to modes and not on a smooth telescopic joint, "
    "where elements stretch; slide: nodal has them"
)
_ORDER = "per element, link by link from the base outwards"

ENTRIES = (
    Entry("element_mass_matrices", "Mass matrices M_ij of all finite elements; with hubs, tips and payload they sum to M.",
          ("q",), lambda v: (Argument("M", (len(_elements(v)), v.size, v.size), "kg m^2, kg m, kg", _ORDER),),
          (mass_matrices,), "plain", default=False, applies=_applies, applies_to=_WHY),
    Entry("element_stiffness_matrices", "Stiffness matrices K_ij of all finite elements: their sum is that of the links.", (),
          lambda v: (Argument("K", (len(_elements(v)), v.size, v.size), "N m/rad, N/m", _ORDER),),
          (stiffness_matrices,), "plain", default=False, applies=_applies, applies_to=_WHY),
    Entry("element_shapes", "Shape functions S_ij of all finite elements by powers of t = x / l: w = sum_k t^k S_k^T q.", (),
          lambda v: (Argument("S", (len(_elements(v)), v.size, _degree(v)), "1, m", f"{_ORDER}; per coordinate, powers of t"),),
          (shape_vectors,), "plain", default=False, applies=_applies, applies_to=_WHY),
)  # fmt: skip
