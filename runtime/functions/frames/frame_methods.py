"""Methods of a model about any of its frames by name, one or several at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, cast

from numpy.typing import ArrayLike

from elastogen.runtime.choices import one_of
from elastogen.runtime.functions.evaluation import Array, ParameterValues
from elastogen.runtime.functions.frames.framed_evaluation import FramedEvaluation, Wrenches

Frames: TypeAlias = "str | Sequence[str]"
Reference: TypeAlias = Literal["aligned", "local", "base"]
ALIGNED = "aligned"
REFERENCES = (ALIGNED, "local", "base")


class FrameMethods(FramedEvaluation):
    """Where frames are and how they move.

    ``frames`` is the name of a link, of a point, or "tip"; with a list of names the results have an axis for the frames
    before their own axes. Six-vectors and rows of Jacobians are linear (3), then angular (3), by ``reference``

    - "aligned": of the frame's origin, in base axes, as in :meth:`jacobian` (Pinocchio's LOCAL_WORLD_ALIGNED);
    - "local": of the frame's origin, in the frame's own axes (LOCAL);
    - "base": of the point that the frame carries past the base's origin, in base axes (WORLD).

    Rates and accelerations are the time derivatives of the numbers of the same reference. Functions of frames that were not
    chosen by ``frames=`` of ``build_model`` are built when they are first called.
    """

    def frame_pose(
        self, frames: Frames, q: ArrayLike, *, out: Sequence[Array] | None = None, parameters: ParameterValues = None
    ) -> tuple[Array, Array]:
        """Return origins (..., 3) [m] and rotation matrices (..., 3, 3) of frames in the base frame."""
        return cast("tuple[Array, Array]", self._of_frames("frame_pose", frames, (q,), out, parameters))

    def frame_jacobian(
        self,
        frames: Frames,
        q: ArrayLike,
        *,
        reference: Reference = "aligned",
        out: Array | None = None,
        parameters: ParameterValues = None,
    ) -> Array:
        """Jacobians of frames, twist = J(q) qd, (..., 6, nv)."""
        return self._in_reference("frame_jacobian", reference, frames, (q,), out, parameters)

    def frame_jacobian_rate(
        self,
        frames: Frames,
        q: ArrayLike,
        qd: ArrayLike,
        *,
        reference: Reference = "aligned",
        out: Array | None = None,
        parameters: ParameterValues = None,
    ) -> Array:
        """Time derivatives of :meth:`frame_jacobian`, (..., 6, nv): accelerations are J qdd + dJ/dt qd."""
        return self._in_reference("frame_jacobian_rate", reference, frames, (q, qd), out, parameters)

    def frame_velocity(
        self,
        frames: Frames,
        q: ArrayLike,
        qd: ArrayLike,
        *,
        reference: Reference = "aligned",
        out: Array | None = None,
        parameters: ParameterValues = None,
    ) -> Array:
        """Velocities (v, omega) of frames, (..., 6), [m/s] then [rad/s]."""
        return self._in_reference("frame_velocity", reference, frames, (q, qd), out, parameters)

    def frame_acceleration(
        self,
        frames: Frames,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        reference: Reference = "aligned",
        out: Array | None = None,
        parameters: ParameterValues = None,
    ) -> Array:
        """Time derivatives of :meth:`frame_velocity`, (..., 6), [m/s^2] then [rad/s^2], without gravity.

        Aligned, the linear part is the acceleration of the frame's origin; local and base, they are the spatial
        accelerations of these references.
        """
        return self._in_reference("frame_acceleration", reference, frames, (q, qd, qdd), out, parameters)

    def frame_forces(
        self, q: ArrayLike, wrenches: Wrenches, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Generalized forces sum J^T w of wrenches on frames, (..., nv), [N m] or [N].

        ``wrenches`` maps frames to arrays (..., 6): force at the frame's origin [N], then moment [N m], in base components.
        """
        return self._under_wrenches("frame_forces", (q,), wrenches, out, parameters)

    def _in_reference(
        self,
        function: str,
        reference: str,
        frames: Frames,
        arguments: Sequence[ArrayLike],
        out: Array | None,
        parameters: ParameterValues,
    ) -> Array:
        name = function
        if reference is not ALIGNED:  # the very word is in most calls, and costs the least
            one_of(f"{self._name}.{function}: reference", reference, REFERENCES)
            name = function if reference == ALIGNED else f"{function}_{reference}"
        return cast(Array, self._of_frames(name, frames, arguments, out, parameters))
