"""Methods of a model: the forces inside, in joints, links and sections of beams."""

from __future__ import annotations

from numpy.typing import ArrayLike

from elastogen.runtime.functions.evaluation import Array, Evaluation, ParameterValues


class InnerForceMethods(Evaluation):
    """Free-body forces of a motion: force [N] first, then moment [N m], per moving joint in the order of the coordinates."""

    def joint_reactions(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        out: Array | None = None,
        parameters: ParameterValues = None,
    ) -> Array:
        """Return what the inner link exerts on everything outside of each joint, drive included, (..., n_joints, 6).

        About the origin of the link's frame, behind the joint's motion, and in its components.
        """
        return self._evaluate("joint_reactions", (q, qd, qdd), out, parameters)

    def joint_reactions_base(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        out: Array | None = None,
        parameters: ParameterValues = None,
    ) -> Array:
        """Return :meth:`joint_reactions` in base components, (..., n_joints, 6)."""
        return self._evaluate("joint_reactions_base", (q, qd, qdd), out, parameters)

    def link_resultants(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        out: Array | None = None,
        parameters: ParameterValues = None,
    ) -> Array:
        """Return inertia force and moment of what moves with each joint's link, without gravity, (..., n_joints, 6).

        About the origin of the link's frame and in its components; links on fixed joints and the payload belong to it.
        """
        return self._evaluate("link_resultants", (q, qd, qdd), out, parameters)

    def section_loads(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        out: Array | None = None,
        parameters: ParameterValues = None,
    ) -> Array:
        """Return what the inner part of a beam exerts on all beyond, at the points on beams, (..., points on beams, 6).

        Normal force and shears in y and z [N], torque and bending moments about y and z [N m]: about the centre of the
        section and in its axes. Behind the mouth of a telescopic joint, a section carries what is behind it.
        """
        return self._evaluate("section_loads", (q, qd, qdd), out, parameters)
