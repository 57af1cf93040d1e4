"""Records of a loop as a motion: drawn, plotted and saved as a simulation is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elastogen.runtime.errors import ModelError
from elastogen.runtime.simulation.results import Simulation

if TYPE_CHECKING:
    from elastogen.runtime.loop.loop import Loop


def check_records(name: str, records: object) -> None:
    """Refuse what loop.read() did not return: records, or one of them."""
    if not isinstance(records, (np.ndarray, np.void)) or not {"tick", "q", "q_ref"} <= set(records.dtype.names or ()):
        raise ModelError(f"{name}: records={records!r}, expected those that loop.read() returned.")


def recorded_motion(loop: Loop, records: NDArray[Any]) -> Simulation:
    """What a loop measured and commanded, cycle by cycle; energies are not known."""
    check_records(loop.model.name, records)
    if not len(records):
        raise ModelError(f"{loop.model.name}: got no records, expected those that loop.read() returned during a run.")
    model = loop.model
    return Simulation(
        name=model.name, method=f"{loop.controller.name} at {loop.rate:g} Hz", coordinate_names=model.coordinate_names,
        coordinate_units=model.coordinate_units, t=records["tick"] / loop.rate, q=np.array(records["q"]),
        qd=np.array(records["qd"]), F=np.array(records["F"]), kinetic=None, potential=None, work=None, dissipated=None,
        status="OK", time_reached=float(records["tick"][-1] / loop.rate), steps=len(records), rejections=0,
        evaluations=len(records), factorizations=0, seconds=float(len(records) / loop.rate), animator=loop.animator,
        velocity_names=model.velocity_names, velocity_units=model.metadata.velocity_units,
    )  # fmt: skip
