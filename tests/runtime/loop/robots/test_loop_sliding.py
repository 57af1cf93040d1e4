"""The loop with a simulated robot whose joint slides from element to element of a beam."""

from __future__ import annotations

import numpy as np
import pytest
from loop_setup import finish, run_free

import elastogen
from elastogen.build.start import build_loop
from elastogen.command_line import main
from elastogen.runtime.loop.controllers import PDGravity
from elastogen.runtime.loop.plants import Simulated
from elastogen.runtime.loop.status import LoopWarning

LINKS = [
    {"joint": "R", "length": 0.8, "mass_per_length": 0.35, "EI": 0.17, "elements": 4},
    {"joint": "Pa", "gamma": 0.0, "length": 0.3, "rigid": True, "mass": 0.5, "inertia": 0.004},
]
ROBOT = {"elastogen": 1, "name": "slide", "planar": {"links": LINKS}}


@pytest.fixture(scope="module", params=["double", "float"])
def library(request):
    return build_loop(ROBOT, precision=request.param)


def start_of(library, d, speed):
    q, qd = np.zeros(library.model.nq), np.zeros(library.model.nq)
    place = library.model.metadata.sliding[0].coordinate
    q[place], qd[place] = d, speed
    return q, qd


def test_the_simulated_robot_passes_borders(library) -> None:
    """Along a straight beam without forces the speed stays, and three borders are counted."""
    q, qd = start_of(library, 0.1, 2.0)
    plant = Simulated(q, qd)
    loop, cycles = run_free(library, 300, plant=plant, controller=PDGravity(0.0, 0.0))
    records = finish(loop, cycles)
    d = library.model.metadata.sliding[0].coordinate
    tolerance = 1e-12 if library.model.dtype == np.float64 else 1e-4
    np.testing.assert_allclose(records["q"][:, d], 0.1 + 2e-3 * np.arange(300), rtol=0, atol=tolerance)
    assert plant.switches == 3


def test_energy_of_a_bent_beam_goes_on(library) -> None:
    """The speed takes up the jump of the mass matrix; only the time within the substep is not resolved."""
    if library.model.dtype != np.float64:
        pytest.skip("energy to six digits needs double")
    model = elastogen.build_model(ROBOT, outputs=["kinetic_energy", "potential_energy"])
    q, qd = start_of(library, 0.15, 1.5)
    q[1:9] = [0.001, 0.01, 0.004, 0.02, 0.008, 0.02, 0.013, 0.02]
    plant = Simulated(q, qd, substeps=60)
    loop, cycles = run_free(library, 100, plant=plant, controller=PDGravity(0.0, 0.0))
    records = finish(loop, cycles)
    energy = model.kinetic_energy(records["q"], records["qd"]) + model.potential_energy(records["q"])
    assert plant.switches >= 1
    assert np.abs(energy - energy[0]).max() < 1e-5 * energy[0]


def test_the_end_of_the_beam_stops_the_loop(library) -> None:
    q, qd = start_of(library, 0.7, 2.0)
    loop, cycles = run_free(library, 300, plant=Simulated(q, qd), controller=PDGravity(0.0, 0.0))
    records = finish(loop, cycles)
    assert loop.status.name == "STATUS_OUTSIDE"
    joint = library.model.metadata.sliding[0].joint
    assert loop.status.meaning == f"a sliding joint left its beam ({joint})"
    assert f"keep {joint} on its beam" in str(loop.status)
    assert 45 < len(records) < 60  # 0.1 m at 2 m/s


@pytest.mark.parametrize("d", [0.0, 1e-6, 0.8])
def test_the_loop_starts_at_the_ends_of_the_beam(library, d) -> None:
    q, _ = start_of(library, d, 0.0)
    loop, cycles = run_free(library, 5, plant=Simulated(q), controller=PDGravity(1.0, 0.1))
    assert len(finish(loop, cycles)) == 5


@pytest.mark.parametrize("options", [[], ["--q0", "0.1,0.3"]])
def test_the_command_runs_robots_with_beams_in_joints(options, capsys) -> None:
    quiet = ["--rate", "500", "--seconds", "0.1", "--controller", "pd_gravity", "--kp", "0.01", "--kd", "0.001"]
    assert main(["run", "rpb_table3", *quiet, *options]) == 0
    assert "status: no fault" in capsys.readouterr().out


def test_a_motion_that_diverges_says_so(library) -> None:
    q, _ = start_of(library, 0.4, 0.0)
    with pytest.warns(LoopWarning, match="unstable"):
        loop, cycles = run_free(library, 5000, plant=Simulated(q), controller=PDGravity(1e6, 1e5))
    loop.set_reference(q + 1e-3 * np.eye(library.model.nq)[0])
    finish(loop, cycles)
    assert loop.status.name in ("STATUS_OUTSIDE", "STATUS_DIVERGED", "STATUS_STATE_NOT_FINITE")
    assert loop.status.coordinate
