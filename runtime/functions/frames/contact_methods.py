"""Methods of a model about its contacts: dynamics, impacts, and the forces that a motion needs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from elastogen.runtime.errors import ModelError
from elastogen.runtime.functions.evaluation import Array, Evaluation, ParameterValues
from elastogen.runtime.functions.metadata import Metadata
from elastogen.runtime.interface.error import shortened
from elastogen.runtime.real_numbers import real_array


class ContactMethods(Evaluation):
    """Functions of a model that was built with ``contacts=``.

    ``active`` (..., contacts) is true for the contacts that hold; None: all of them. Forces of contact (..., contacts, 6) are
    those on the robot, at the origins of the frames, in base components, force first; the moments of points are 0.
    """

    _metadata: Metadata

    @property
    def contacts(self) -> tuple[str, ...]:
        """Return the names of the frames that may touch, in the order of ``active``."""
        return self._metadata.contacts

    def contact_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        F: ArrayLike,
        active: ArrayLike | None = None,
        *,
        out: Any = None,
        parameters: ParameterValues = None,
    ) -> tuple[Array, Array]:
        """Accelerations (..., nv) for driving forces F while the active contacts hold, and the forces of the contacts.

        The contacts hold both ways: a force that pulls says that the contact would open. Rows that follow from others (two
        flat feet on one body) carry nothing, the accelerations are unique all the same.
        """
        found: Any = self._evaluate("contact_dynamics", (q, qd, F, self._active(active)), out, parameters)
        return found  # type: ignore[no-any-return]

    def contact_impulse(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        active: ArrayLike | None = None,
        restitution: ArrayLike = 0.0,
        *,
        out: Any = None,
        parameters: ParameterValues = None,
    ) -> tuple[Array, Array]:
        """Velocities (..., nv) after the active contacts have hit something at rest, and the impulses (..., contacts, 6).

        ``restitution``, one number or (..., contacts), is the speed along the contact's normal after the impact over that
        before it, 0 to 1; along the surface, and of rotations of flat feet, nothing is left. [N s], [N m s].
        """
        share = self._share(restitution)
        given = (q, qd, self._active(active), share)
        found: Any = self._evaluate("contact_impulse", given, out, parameters)
        return found  # type: ignore[no-any-return]

    def contact_inverse_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        active: ArrayLike | None = None,
        *,
        out: Any = None,
        parameters: ParameterValues = None,
    ) -> tuple[Array, Array]:
        """Driving forces (..., nv) of a motion, 0 on a free base, and the least forces of the active contacts that carry it.

        Least is the sum of the squares of forces [N] and moments [N m]; the contacts may pull and slide in it. Raises
        ModelError where the active contacts cannot carry the motion: a free base in space needs three points, or a flat foot.
        """
        given = (q, qd, qdd, self._active(active))
        found: Any = self._evaluate("contact_inverse_dynamics", given, out, parameters)
        return found  # type: ignore[no-any-return]

    def _active(self, given: ArrayLike | None) -> Array:
        """Return the mask as numbers 1 and 0."""
        names = self._contact_names()
        if given is None:
            return np.ones(len(names))
        try:
            mask = real_array(np.asarray(given, dtype=float) if np.asarray(given).dtype == bool else given)
        except (TypeError, ValueError):
            mask = np.full(1, np.nan)
        if mask.shape[-1:] != (len(names),) or not np.isin(mask, (0.0, 1.0)).all():
            expected = f"True or False for each of {', '.join(names)}"
            raise ModelError(f"{self._name}: active={shortened(given)}, expected {expected}, in the last axis.")
        return mask

    def _share(self, given: ArrayLike) -> Array:
        names = self._contact_names()
        try:
            share = real_array(given)
        except (TypeError, ValueError):
            share = np.full(1, np.nan)
        if share.shape not in ((), (1,)) and share.shape[-1:] != (len(names),):
            share = np.full(1, np.nan)
        if not ((share >= 0.0) & (share <= 1.0)).all():
            expected = f"one number from 0 to 1, or {len(names)} in the last axis"
            raise ModelError(f"{self._name}.contact_impulse: restitution={shortened(given)}, expected {expected}.")
        spread: Array = np.broadcast_to(share, (*share.shape[:-1], len(names))) if share.ndim else np.full(len(names), share)
        return spread

    def _contact_names(self) -> tuple[str, ...]:
        if not self._metadata.contacts:
            raise ModelError(
                f"{self._name}: has no contacts. Fix: elastogen.build_model(robot, contacts=['foot']) names frames that touch."
            )
        return self._metadata.contacts
