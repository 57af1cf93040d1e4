"""Methods of a model: higher time derivatives along a motion, and energies of higher order."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from elastogen.runtime.errors import ModelError, ModelWarning
from elastogen.runtime.functions.evaluation import Array, Evaluation, ParameterValues
from elastogen.runtime.interface.euler_sets import EULER_SETS


def _without_rates(X: Array, Xd: Array, Xdd: Array, qd: ArrayLike, qdd: ArrayLike, *, again: bool) -> Array:
    """States whose middle angle is at an end of its range (``again``: 0 or pi, else +-pi/2) and does not stay there."""
    with np.errstate(invalid="ignore"):
        distance = np.abs(np.sin(X[..., 4]) if again else np.cos(X[..., 4]))
        moves = np.maximum(np.abs(Xd[..., 4]), np.abs(Xdd[..., 4]))
        rates, accelerations = (np.abs(np.asarray(given, dtype=float)).sum(axis=-1) for given in (qd, qdd))
        size = rates + rates**2 + accelerations
        close = 1e-12 if X.dtype == np.float64 else 1e-6
        return np.asarray((distance < close) & ~(moves <= 1e3 * np.finfo(X.dtype).eps * size))


class HigherOrderMethods(Evaluation):
    """Quantities that need derivatives of q beyond qdd; each order is an emitted function, ``<method>_<order>``.

    ``q`` and its time derivatives are (..., nq) in [rad] or [m], per s, s^2, ...; dots are batch axes that broadcast.
    ``higher`` are the derivatives of third to sixth order, as many as the order of the quantity needs.
    """

    def operational_vector(
        self,
        angles: str,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        out: Sequence[Array] | None = None,
        parameters: ParameterValues = None,
    ) -> Array:
        """X = [p; psi] of the tip, dX/dt and d2X/dt2, 3 x (..., 6), [m] and [rad], per s, per s^2 (002 (5)).

        ``angles`` are the moving axes that psi rotates about, one of twelve sets, such as "zyz" or "xyz". Where the middle
        angle is at an end of its range (0 or pi for "zyz", +-pi/2 for "xyz") the other two are not unique: the third is
        then 0. The angles have rates there only while the middle one stays, as that of a planar robot: otherwise they are
        NaN, with a ModelWarning. At a small distance d from there they lose digits: 1e-16 / d in rates, 1e-16 / d^2 in second
        rates.
        """
        if not isinstance(angles, str) or angles not in EULER_SETS:
            raise ModelError(f"{self._name}.operational_vector: angles={angles!r}, expected one of {', '.join(EULER_SETS)}.")
        found = self._evaluate(f"operational_vector_{angles}", (q, qd, qdd), out, parameters)
        X, Xd, Xdd = found
        if np.any(lost := _without_rates(X, Xd, Xdd, qd, qdd, again=angles[0] == angles[2])):
            for rates in (Xd, Xdd):
                rates[..., 3:][lost] = np.nan
            warnings.warn(
                f"{self._name}.operational_vector: the middle angle of {angles!r} is at an end of its range in "
                f"{np.count_nonzero(lost)} of {lost.size} states, and moves away: the angles have no rates there (NaN). Fix: "
                "take a set whose middle angle stays away from its ends, or frame_velocities",
                ModelWarning,
                stacklevel=2,
            )
        return found

    def acceleration_energy(
        self,
        p: int,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *higher: ArrayLike,
        out: Array | None = None,
        parameters: ParameterValues = None,
    ) -> Array:
        """Acceleration energy of order p, ``1/2 int |d^(p+1) r / dt^(p+1)|^2 dm``, (...), [kg m^2 / s^(2p+2)].

        Order p = 1..4 needs the time derivatives of q up to order p + 1: p - 1 arrays ``higher``.
        """
        return self._evaluate_order("acceleration_energy", "p", p, (1, 4), 2, (q, qd, qdd, *higher), out, parameters)

    def acceleration_energy_rate(
        self,
        p: int,
        k: int,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *higher: ArrayLike,
        out: Array | None = None,
        parameters: ParameterValues = None,
    ) -> Array:
        """Return d^k/dt^k of the acceleration energy of order p along the motion, (...), [kg m^2 / s^(2p+k+2)].

        Order p = 0..3, where 0 is the kinetic energy, and k = 1, 2 need the time derivatives of q up to order p + k + 1:
        p + k - 1 arrays ``higher`` (paper 000 (49), (50)).
        """
        if isinstance(p, bool) or not isinstance(p, int) or not 0 <= p <= 3:
            raise ModelError(f"{self._name}.acceleration_energy_rate: p={p!r}, expected a whole number from 0 to 3.")
        arrays = (q, qd, qdd, *higher)
        return self._evaluate_order(f"acceleration_energy_rate_{p}", "k", k, (1, 2), p + 2, arrays, out, parameters)

    def acceleration_energy_parts(
        self,
        p: int,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *higher: ArrayLike,
        out: Array | None = None,
        parameters: ParameterValues = None,
    ) -> Array:
        """Return :meth:`acceleration_energy` by link and component, (..., n_joints, 6), as :meth:`kinetic_energy_parts`.

        For p = 1 and a rigid link: 1/2 m a_C.a_C, 1/2 eps.I eps, eps.(omega x I omega), 1/2 omega.omega omega.I omega.
        """
        return self._evaluate_order("acceleration_energy_parts", "p", p, (1, 4), 2, (q, qd, qdd, *higher), out, parameters)

    def inertia_force_rate(
        self,
        k: int,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *higher: ArrayLike,
        out: Array | None = None,
        parameters: ParameterValues = None,
    ) -> Array:
        """Return d^k/dt^k of :meth:`inertia_forces` along the motion, (..., nq), [N m/s^k] or [N/s^k].

        Order k = 0..4 needs the time derivatives of q up to order k + 2: k arrays ``higher``.
        """
        arrays = (q, qd, qdd, *higher)
        return self._evaluate_order("inertia_force_rate", "k", k, (0, 4), 3, arrays, out, parameters, zero="inertia_forces")

    def inverse_dynamics_rate(
        self,
        k: int,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *higher: ArrayLike,
        out: Array | None = None,
        parameters: ParameterValues = None,
    ) -> Array:
        """Return d^k/dt^k of :meth:`inverse_dynamics` along the motion, (..., nq), [N m/s^k] or [N/s^k].

        Order k = 0..4 needs the time derivatives of q up to order k + 2: k arrays ``higher``.
        """
        arrays = (q, qd, qdd, *higher)
        return self._evaluate_order(
            "inverse_dynamics_rate", "k", k, (0, 4), 3, arrays, out, parameters, zero="inverse_dynamics"
        )

    def transform_rate(
        self, k: int, q: ArrayLike, *derivatives: ArrayLike, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Return d^k/dt^k of :meth:`forward_kinematics` along the motion, (..., n_frames, 4, 4), [1/s^k], [m/s^k].

        Order k = 0..4 needs the time derivatives of q up to order k: k arrays after q.
        """
        arrays = (q, *derivatives)
        return self._evaluate_order("transform_rate", "k", k, (0, 4), 1, arrays, out, parameters, zero="forward_kinematics")

    def _evaluate_order(
        self,
        method: str,
        name: str,
        order: int,
        allowed: tuple[int, int],
        at_zero: int,
        arrays: tuple[ArrayLike, ...],
        out: Array | None,
        parameters: ParameterValues,
        *,
        zero: str = "",
    ) -> Array:
        """Evaluate the function of one order, which takes ``at_zero + order`` arrays; ``zero`` is that of order 0."""
        lowest, highest = allowed
        if isinstance(order, bool) or not isinstance(order, int) or not lowest <= order <= highest:
            raise ModelError(f"{self._name}.{method}: {name}={order!r}, expected a whole number from {lowest} to {highest}.")
        needed = at_zero + order
        if len(arrays) != needed:
            raise ModelError(
                f"{self._name}.{method}: {name}={order} got {len(arrays)} arrays, expected {needed}: "
                f"q and its time derivatives up to order {needed - 1}."
            )
        return self._evaluate(f"{method}_{order}" if order else zero, arrays, out, parameters)
