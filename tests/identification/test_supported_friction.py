"""What data support: laws of friction by an information criterion, friction that holds, gains of the robot's own controller."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from measured_arm import ARM, content, measured, moved

import elastogen

pytest.importorskip("scipy")


@pytest.mark.parametrize(
    ("law", "added"),
    [("coulomb: 1.1", set()), ("coulomb: 1.1, load: 0.1", {"load"}), ("coulomb: 1.1, stribeck: 0.8", {"stribeck"})],
)
def test_the_default_has_the_friction_that_made_the_data(law, added):
    for seed in range(2):
        run = measured(ARM.replace("coulomb: 1.1", law), seed)
        found = elastogen.identify(content(ARM), run, cutoff=0)
        assert set(found.parameters) - {"inertia", "viscous", "coulomb", "offset", "rotor"} == added
        assert sum("estimated, too" in note for note in found.notes) == len(added)


def test_kinds_that_are_named_are_those_that_are_estimated():
    run = measured(ARM.replace("coulomb: 1.1", "coulomb: 1.1, load: 0.1"))
    kinds = ["inertia", "viscous", "coulomb", "offset", "rotor"]
    assert list(elastogen.identify(content(ARM), run, parameters=kinds, cutoff=0).parameters) == kinds


def test_resting_joints_are_held_by_the_friction_they_came_with():
    """Runs that end in rests: 60 % of Coulomb friction stays, in the direction that each joint came from."""
    model = elastogen.build_model(elastogen.load(content(ARM)), outputs=["inverse_dynamics"])
    runs = []
    for seed in (1, 2):
        t = np.arange(0, 24, 0.01)
        late = np.clip(t - 19.8, 0.0, 0.4)  # the clock of the motion stops within 0.4 s, while joints are fast
        warp = np.minimum(t, 19.8) + late - late**2 / 0.8
        rate = np.gradient(warp, t)
        q, qd, qdd = moved(warp, seed)
        qdd = qdd * rate[:, None] ** 2 + qd * np.gradient(rate, t)[:, None]
        came, qd = np.sign(qd[-1]), qd * rate[:, None]
        F = model.inverse_dynamics(q, qd, qdd)
        F[t >= 20.21] += 0.6 * came * np.array([1.1, 0.6])
        runs.append({"time": t, "q": q, "qd": qd, "qdd": qdd, "F": F})
    found = elastogen.identify(content(ARM), runs[0], validate=runs[1], cutoff=0)
    assert found.held_part == pytest.approx(0.6, abs=0.02)
    (other,) = found.validated
    assert other.held < 0.3 * other.total
    assert other.held < 0.005


def test_gains_follow_from_what_the_controller_wanted():
    run = measured(ARM)
    gains = np.array([12.0, 8.0])
    wanted = run["F"]
    log = {key: run[key] for key in ("time", "q", "qd")} | {"current": run["F"] / gains}
    log |= {"F_command": wanted, "current_command": wanted / gains}
    found = elastogen.identify(content(ARM), log, cutoff=0)
    assert any("shoulder=12, elbow=8" in note for note in found.notes)
    np.testing.assert_allclose(found.motions(log)[0][0].F, run["F"], rtol=1e-6)
    given = elastogen.identify(content(ARM), log, gains={"shoulder": 13.2, "elbow": 8.0}, cutoff=0)
    assert any("gains of shoulder differ from those of its own controller" in note for note in given.notes)
    fewer = {key: value for key, value in log.items() if key != "F_command"}
    with pytest.raises(elastogen.IdentificationError, match="currents without gains"):
        elastogen.identify(content(ARM), fewer)


def test_short_gaps_are_bridged_and_long_ones_are_not():
    run = measured(ARM)
    fine = run | {"time": run["time"] / 10, "qd": 10 * run["qd"], "qdd": 100 * run["qdd"]}  # at 1 kHz

    def without(samples):
        keep = np.ones(len(fine["time"]), bool)
        keep[900 : 900 + samples] = False
        log = {key: value[keep] for key, value in fine.items()}
        return elastogen.identify(content(ARM), log, parameters=["inertia", "viscous", "coulomb"], cutoff=0)

    assert len(without(9).motions(fine)[0]) == 1
    assert not any("gaps" in note for note in without(9).notes)
    assert any("1 gaps longer than 0.02 s" in note for note in without(25).notes)


def test_the_cut_off_is_below_the_noise_of_velocities():
    from elastogen.identification.measurements.clean import Piece
    from elastogen.identification.measurements.signals import ABOVE, LEAST, chosen_cutoff

    t = np.arange(0, 20, 0.001)
    q, qd, _ = moved(t, 3)
    clean = Piece("a", 0.001, t, q, qd, None, np.zeros_like(q))
    noisy = replace(clean, qd=qd + 0.02 * np.random.default_rng(0).standard_normal(qd.shape))
    ratio = chosen_cutoff([noisy]) / chosen_cutoff([clean])
    assert ratio == pytest.approx(LEAST / ABOVE, rel=0.2)
