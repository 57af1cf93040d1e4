"""Elastic coordinates along a measured motion of the joints, integrated in emitted C with exact derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime.errors import ModelError

if TYPE_CHECKING:
    from elastogen.runtime.online.online_methods import OnlineMethods

WHY = {
    -1: "the mass matrix of the elastic coordinates is singular",
    -2: "the elastic coordinates grew beyond all bounds",
    -3: "a step that is not above zero",
}


class ElasticStates(NamedTuple):
    """The result of :meth:`Model.elastic_states`: (n, nv) each, and derivatives (n, nv, columns).

    Columns are the live parameters in their order, then the first elastic positions, then the first elastic velocities.
    """

    q: NDArray[Any]
    qd: NDArray[Any]
    qdd: NDArray[Any]
    F: NDArray[Any]  # driving forces, zeros for elastic coordinates
    dq: NDArray[Any]
    dqd: NDArray[Any]
    dqdd: NDArray[Any]
    dF: NDArray[Any]  # noqa: N815 - the name of the C argument


def elastic_states(
    model: OnlineMethods, dt: float, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, values: NDArray[Any], derivatives: bool
) -> ElasticStates:
    """Compute the states; q, qd, qdd contain the joints, and the elastic coordinates in the first row."""
    label, lib, ffi = f"{model._name}.elastic_states", model._lib, model._ffi
    given = [np.array(x, dtype=model.dtype, order="C") for x in (q, qd, qdd)]
    n = len(given[0])
    for name, array in zip(("q", "qd", "qdd"), given, strict=True):
        if array.shape != (n, model.nv) or n == 0:
            raise ModelError(f"{label}: got {name} of shape {array.shape}, expected (n, {model.nv}), the same n for all.")
        if not np.all(np.isfinite(array)):
            raise ModelError(f"{label}: got NaN or infinity in {name}, expected numbers.")
    elastic = [k for k in range(model.nv) if k not in model.driven]
    columns = len(values) + 2 * len(elastic) if derivatives else 0
    forces = np.zeros((n, model.nv), model.dtype)
    slopes = [np.zeros((n, model.nv, columns), model.dtype) for _ in range(4)]
    if derivatives:
        for i, k in enumerate(elastic):
            slopes[0][0, k, len(values) + i] = 1.0
            slopes[1][0, k, len(values) + len(elastic) + i] = 1.0
    kind = ffi.typeof("eg_real_t[]")

    def pointer(array: NDArray[Any]) -> Any:
        return ffi.from_buffer(kind, array) if array.size else ffi.NULL

    status = lib.eg_elastic_states(
        pointer(np.ascontiguousarray(values, dtype=model.dtype)), n, float(dt), *map(pointer, given), pointer(forces), columns,
        *map(pointer, slopes),
    )  # fmt: skip
    if status:
        raise ModelError(f"{label}: {WHY[int(status)]}.")
    return ElasticStates(given[0], given[1], given[2], forces, slopes[0], slopes[1], slopes[2], slopes[3])
