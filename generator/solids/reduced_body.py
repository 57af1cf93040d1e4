"""The standard data of a reduced solid: sums over the nodes with the consistent mass matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from elastogen.generator.robot.bodies.flexible_body import TIP, FlexibleBody, Interface
from elastogen.generator.robot.robot import ZERO3, Matrix, Vector
from elastogen.generator.solids.reduction import pairs
from elastogen.generator.solids.solid import Array, Elements


def integrals(elements: Elements, shapes: Array, second: Array) -> dict[str, Array]:
    """m, int r dm, int r r^T dm, int b_n dm, int b_n r^T dm, int b_n b_m^T dm of displacements b_n of the nodes.

    Second-order fields come last; their products with others are of third order and left out.
    """
    mass, X = elements.mass, elements.nodes
    weights = mass @ np.ones(len(X))  # int N_i dm
    fields = [np.ascontiguousarray(array[:, :, j]) for array in (shapes, second) for j in range(array.shape[2])]
    weighted = [mass @ field for field in fields]
    first = shapes.shape[2]
    products = np.array([[field.T @ other for other in weighted[:first]] for field in fields[:first]])
    second = X.T @ (mass @ X)
    return {
        "mass": np.array(weights.sum()),
        "first": weights @ X,
        "second": (second + second.T) / 2,
        "fields": np.array([weights @ field for field in fields]),
        "positions": np.array([moved.T @ X for moved in weighted]),
        "products": (products + products.transpose(1, 0, 3, 2)) / 2,
    }


def reduced_body(
    found: Mapping[str, Array],
    stiffness: Array,
    places: Mapping[str, Array],
    motions: Mapping[str, Array],
    tip: str,
    rotation: str,
) -> FlexibleBody:
    """The body; ``places`` are the origins of its interfaces [m], of which the one called ``tip`` is the tip as well."""
    count, fields = len(stiffness), len(found["fields"])
    second = pairs(count) if fields > count else []
    interfaces = {name: _interface(name, places[name], motions[name], count) for name in places}
    end = interfaces[tip]
    return FlexibleBody(
        coordinates=tuple(f"mode{j + 1}" for j in range(count)),
        monomials=(*((j,) for j in range(count)), *second),
        **mass_data(found, count),
        stiffness=_rows((stiffness + stiffness.T) / 2),
        damping=tuple((0,) * count for _ in range(count)),
        tip_pose=end.pose,
        tip_displacements=end.displacements,
        tip_rotations=end.rotations,
        tip=rotation,
        units=("m",) * count,
        others=tuple(place for name, place in interfaces.items() if name not in (tip, TIP)),
    )


def mass_data(found: Mapping[str, Array], count: int) -> dict[str, Any]:
    """The integrals as a body has them, of so many coordinates."""
    fields = len(found["fields"])
    products = [[_rows(block) for block in line] + [ZERO3] * (fields - count) for line in found["products"]]
    products += [[ZERO3] * fields for _ in range(fields - count)]
    return {
        "mass": float(found["mass"]),
        "first_moments": _vector(found["first"]),
        "second_moments": _rows(found["second"]),
        "field_integrals": _rows(found["fields"]),
        "field_position_integrals": tuple(_rows(matrix) for matrix in found["positions"]),
        "field_field_integrals": tuple(map(tuple, products)),
    }


def _interface(name: str, place: Array, motions: Array, count: int) -> Interface:
    x, y, z = (float(entry) for entry in place)
    pose = ((1, 0, 0, x), (0, 1, 0, y), (0, 0, 1, z), (0, 0, 0, 1))
    return Interface(name, pose, _rows(motions[:, :3]), _rows(motions[:count, 3:]))


def _vector(values: Array) -> Vector:
    x, y, z = (float(value) for value in values)
    return (x, y, z)


def _rows(matrix: Array | Sequence[Array]) -> Matrix:
    return tuple(tuple(float(entry) for entry in row) for row in matrix)
