"""The methods of a model that hand it to other tools; each tool is imported when its method is called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from elastogen.runtime.model.model import Model


class BridgeMethods:
    """``model.to_torch(...)`` and the like."""

    @property
    def _bridged(self) -> Model:
        return cast("Model", self)

    def to_torch(self, name: str, *, parameters: bool = False) -> Callable[..., Any]:
        """The function ``name`` on PyTorch tensors (..., size), differentiable twice, with ``vmap``; the extra ``torch``.

        With ``parameters`` the live parameters are the last input.
        """
        from elastogen.runtime.bridges.to_torch import to_torch

        return to_torch(self._bridged, name, parameters=parameters)

    def to_casadi(self, name: str, *, parameters: bool = False) -> Any:
        """The function ``name`` as an external ``casadi.Function``, with derivatives to second order; the extra ``casadi``.

        With ``parameters`` the live parameters are the last input, without it they keep the values that they have now.
        """
        from elastogen.runtime.bridges.to_casadi import to_casadi

        return to_casadi(self._bridged, self._bridged._maker, name, parameters=parameters)

    def to_casadi_step(self, *, dt: float, method: str = "rk4", rho_inf: float = 0.9, parameters: bool = False) -> Any:
        """A step of ``dt`` seconds as ``casadi.Function`` (q, qd, F) to (q_next, qd_next); the extra ``casadi``.

        ``method``: "rk4", or "generalized_alpha" with ``rho_inf``. With ``parameters`` the live parameters are the last input.
        """
        from elastogen.runtime.bridges.to_casadi import to_casadi_step

        return to_casadi_step(self._bridged, self._bridged._maker, dt, method=method, rho_inf=rho_inf, parameters=parameters)

    def to_jax(self, name: str, *, parameters: bool = False) -> Callable[..., Any]:
        """The function ``name`` on JAX arrays (..., size), differentiable twice, with ``jit`` and ``vmap``; the extra ``jax``.

        With ``parameters`` the live parameters are the last input.
        """
        from elastogen.runtime.bridges.to_jax import to_jax

        return to_jax(self._bridged, name, parameters=parameters)

    def to_crocoddyl(self, *, dt: float | None, integrator: str = "euler", contacts: Sequence[str] = ()) -> Any:
        """An action model of Crocoddyl for a step of ``dt`` seconds, or with None a differential one; the extra ``crocoddyl``.

        Controls: the driven forces. ``contacts`` hold. See :func:`elastogen.runtime.bridges.to_crocoddyl.to_crocoddyl`.
        """
        from elastogen.runtime.bridges.to_crocoddyl import to_crocoddyl

        return to_crocoddyl(self._bridged, self._bridged._maker, dt=dt, integrator=integrator, contacts=contacts)

    def to_control(self, q: ArrayLike, qd: ArrayLike | None = None, F: ArrayLike | None = None) -> Any:
        """The linearization as a ``control.StateSpace``, inputs the driven forces; the extra ``control``."""
        from elastogen.runtime.bridges.to_control import to_control

        return to_control(self._bridged, q, qd, F)

    def to_gymnasium(
        self,
        *,
        dt: float = 0.01,
        reward: Callable[..., ArrayLike] | None = None,
        goal: ArrayLike | None = None,
        envs: int | None = None,
        force: ArrayLike | None = None,
        substeps: int = 1,
        start: ArrayLike | None = None,
    ) -> Any:
        """A ``gymnasium.Env``, or with ``envs`` a vectorized one; the extra ``gymnasium``.

        Observation: q and qd; action: the driven forces. See :func:`elastogen.runtime.bridges.to_gymnasium.to_gymnasium`.
        """
        from elastogen.runtime.bridges.to_gymnasium import to_gymnasium

        return to_gymnasium(
            self._bridged, dt=dt, reward=reward, goal=goal, envs=envs, force=force, substeps=substeps, start=start
        )
