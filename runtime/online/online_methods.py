"""Methods of models built with ``identification=``: observers and estimators in emitted C."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from elastogen.runtime.errors import ModelError
from elastogen.runtime.functions.evaluation import Evaluation, ParameterValues
from elastogen.runtime.online.elastic_states import ElasticStates, elastic_states
from elastogen.runtime.online.estimator import OnlineEstimator
from elastogen.runtime.online.momentum_observer import MomentumObserver

if TYPE_CHECKING:
    from elastogen.runtime.online.collision import CollisionDetector


class OnlineMethods(Evaluation):
    """Observers and estimators of a model."""

    _lib: Any
    _ffi: Any
    nq: Any
    nv: Any
    dtype: Any
    driven: Any
    velocity_names: Any

    def momentum_observer(self, dt: float, gain: ArrayLike = 50.0) -> MomentumObserver:
        """An observer of external forces for states that are ``dt`` [s] apart, with bandwidths ``gain`` [1/s].

        Needs ``build_model(robot, identification=["external_forces"])``.
        """
        self._needs("momentum_observer", "eg_observe_momentum", "external_forces")
        return MomentumObserver(self, dt, gain)

    def collision_detector(
        self,
        dt: float,
        gain: ArrayLike = 500.0,
        *,
        uncertain: Mapping[str, float],
        floor: ArrayLike,
        margin: float = 1.2,
    ) -> CollisionDetector:
        """Collisions from the momentum observer, with thresholds from what may be wrong in the model.

        ``uncertain`` are live parameters and by how much they may be off, in their units: {"payload_mass": 0.2}. ``floor``
        [N m, N] is what noise and unknown friction may show, (nv,) or a number; ``margin`` multiplies what the uncertain
        parameters explain. Needs ``build_model(robot, identification=["external_forces"])``.
        """
        from elastogen.runtime.online.collision import CollisionDetector

        self._needs("collision_detector", "eg_detect_collisions", "external_forces")
        return CollisionDetector(self, dt, gain, uncertain, floor, margin)

    def elastic_states(
        self,
        dt: float,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        derivatives: bool = False,
        parameters: ParameterValues = None,
    ) -> ElasticStates:
        """Elastic coordinates and driving forces along a motion of the joints at steps ``dt`` [s], with derivatives.

        ``q``, ``qd``, ``qdd`` (n, nv) have the joints' motion; of elastic coordinates only the first row counts, as the start.
        Needs ``build_model(robot, identification=["elastic_states"])``.
        """
        self._needs("elastic_states", "eg_elastic_states", "elastic_states")
        values = self._parameters.snapshot if parameters is None else self._parameters.merged(parameters)
        return elastic_states(self, dt, q, qd, qdd, np.asarray(values), derivatives)

    def online_estimator(
        self,
        dt: float,
        *,
        noise: ArrayLike = 0.1,
        uncertainty: ArrayLike = 10.0,
        bandwidth: float = 60.0,
        memory: float = 0.0,
    ) -> OnlineEstimator:
        """Recursive least squares for payload and friction, for states that are ``dt`` [s] apart.

        ``noise`` [N m] or [N] is that of the driving forces, ``uncertainty`` the standard deviation of each number at the
        start, ``bandwidth`` [1/s] that of the low pass of all signals, ``memory`` [s] that of forgetting (0: none).
        Needs ``build_model(robot, identification=["payload"])``, ``["friction"]`` or both.
        """
        self._needs("online_estimator", "eg_estimate_online", "payload")
        return OnlineEstimator(self, dt, noise, uncertainty, bandwidth, memory)

    def _needs(self, method: str, symbol: str, kind: str) -> None:
        if not hasattr(self._lib, symbol):
            raise ModelError(
                f"{self._name}.{method}: the model was built without it. Fix: build_model(robot, identification=[{kind!r}])"
            )
