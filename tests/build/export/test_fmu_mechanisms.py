"""Mechanisms as functional mock-up units: assembled at the start, closed all along, as ``simulate`` moves them."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import elastogen

fmpy = pytest.importorskip("fmpy", reason="FMPy is not installed: pip install fmpy")
from fmpy.validation import validate_fmu  # noqa: E402

BODY = {"mass": 1.0, "com": [0.1, 0, 0], "inertia": [0.01, 0.02, 0.02]}
ROCKING: dict[str, Any] = {  # the shortest bar is the coupler: no bar goes round
    "elastogen": 1,
    "name": "rocking",
    "gravity": [0, -9.81, 0],
    "links": [{"name": "frame"}, *({"name": name, **BODY} for name in ("crank", "coupler", "rocker"))],
    "joints": [
        {"name": "drive", "type": "revolute", "parent": "frame", "child": "crank"},
        {"name": "elbow", "type": "revolute", "child": "coupler", "placement": {"xyz": [0.5, 0, 0]}, "driven": False},
        {"name": "pivot", "type": "revolute", "parent": "frame", "child": "rocker", "placement": {"xyz": [0.7, 0, 0]},
         "driven": False},
    ],
    "loops": [{"name": "pin", "type": "revolute", "a": {"link": "coupler", "xyz": [0.3, 0, 0]},
               "b": {"link": "rocker", "xyz": [0.6, 0, 0]}}],
}  # fmt: skip
START = {"q.drive": 1.2, "q.elbow": -1.0, "q.pivot": 1.4, "qd.drive": 2.0, "F.drive": 3.0}


@pytest.fixture(scope="module")
def model() -> Any:
    return elastogen.build_model(ROCKING, cflags="-O0", outputs=["simulation", "driven_map"])


@pytest.fixture(scope="module")
def units(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    found = {}
    for version in ("fmu2", "fmu3"):
        folder = tmp_path_factory.mktemp("units") / version
        elastogen.export(copy.deepcopy(ROCKING), folder, format=version, cflags="-O0")
        found[version] = str(folder / "rocking.fmu")
    return found


@pytest.mark.parametrize("version", ["fmu2", "fmu3"])
@pytest.mark.parametrize(("kind", "open_by", "apart"), [("CoSimulation", 1e-12, 1e-7), ("ModelExchange", 3e-6, 1e-5)])
def test_units_move_as_simulate(
    model: Any, units: dict[str, str], version: str, kind: str, open_by: float, apart: float
) -> None:
    """In model exchange the importer integrates: between its steps loops are closed to its own tolerance."""
    assert validate_fmu(units[version]) == []
    found = fmpy.simulate_fmu(
        units[version], fmi_type=kind, start_values=START, stop_time=1.0, output_interval=0.1, relative_tolerance=1e-8
    )
    q, qd = (np.array([found[f"{x}.{name}"] for name in model.coordinate_names]).T for x in ("q", "qd"))
    assert q[0, 0] == START["q.drive"]  # drives stay while the plant is assembled
    np.testing.assert_allclose(q[0], model.close_loops([1.2, -1.0, 1.4]), atol=1e-9)
    np.testing.assert_allclose(qd[0], model.driven_map(q[0]) @ [2.0], rtol=1e-9)
    assert np.abs(model.loop_residual(q)).max() < open_by
    expected = model.simulate(q[0], qd[0], F=[3.0, 0, 0], t=found["time"], rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(q, expected.q, atol=apart)
    np.testing.assert_allclose(qd, expected.qd, atol=30 * apart)


def test_a_plant_that_cannot_be_assembled_is_refused(units: dict[str, str]) -> None:
    messages: list[str] = []
    with pytest.raises(Exception, match=r"(?i)init"):
        fmpy.simulate_fmu(
            units["fmu2"],
            start_values={**START, "q.drive": 3.0},
            stop_time=0.1,
            debug_logging=True,
            logger=lambda component, instance, status, category, text: messages.append(text.decode()),
        )
    assert any("loops cannot be closed with the drives where they are" in text for text in messages)
