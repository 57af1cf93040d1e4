"""Limits of joints in a simulation: who passes one first, motions that end there, springs that push back."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import elastogen
from elastogen import Model, ModelError, ModelWarning, Stops, Table
from elastogen.command_line import main

MASS, LIMIT = 2.0, 0.5
SLEDGE = {
    "elastogen": 1,
    "name": "sledge",
    "gravity": [0, 0, 0],
    "links": [{"name": "base"}, {"name": "body", "mass": MASS}, {"name": "free", "mass": 1.0}],
    "joints": [
        {"name": "slide", "type": "prismatic", "child": "body", "axis": [1, 0, 0], "limits": {"lower": -0.3, "upper": LIMIT}},
        {"name": "across", "type": "prismatic", "parent": "body", "child": "free", "axis": [0, 1, 0]},
    ],
}


@pytest.fixture(scope="module")
def sledge() -> Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", elastogen.RobotWarning)
        return elastogen.build_model(SLEDGE, outputs="simulation")


METHODS = pytest.mark.parametrize("method", ["tsit5", "rk4", "generalized_alpha"])


@METHODS
def test_the_first_limit_is_reported(sledge: Model, method) -> None:
    """x = a t^2 / 2 passes the limit at sqrt(2 x / a); nothing else changes."""
    F = [6.0, 0.0]
    with pytest.warns(ModelWarning, match=r"slide passed its limit 0\.5 m at t = 0\.70710\d* s"):
        said = sledge.simulate([0, 0], t=1.0, F=F, method=method, samples=11)
    (passed,) = said.limits_passed
    assert (passed.coordinate, passed.limit, passed.motion) == ("slide", LIMIT, ())
    assert passed.time == pytest.approx(np.sqrt(2 * LIMIT * 3.0 / 6.0), rel=1e-9 if method != "generalized_alpha" else 1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        silent = sledge.simulate([0, 0], t=1.0, F=F, method=method, samples=11, stops="ignore")
        inside = sledge.simulate([0, 0], t=0.5, F=F, method=method, samples=11)
    np.testing.assert_array_equal(said.q, silent.q)
    assert silent.limits_passed == inside.limits_passed == ()
    assert str(passed) in said.report()


@METHODS
def test_a_motion_ends_at_the_limit(sledge: Model, method) -> None:
    ended = sledge.simulate([0, 0], [-2.01, 1.0], t=1.0, method=method, samples=101, stops="end")
    assert ended.ok
    assert ended.status == "LIMIT"
    assert ended.limits_passed[0].limit == -0.3
    assert ended.t[-1] == ended.time_reached == pytest.approx(0.3 / 2.01, rel=1e-12)
    np.testing.assert_allclose(ended.q[-1], [-0.3, 0.3 / 2.01], rtol=1e-12)
    assert len(ended.t) == 16
    assert "ended at the limit" in ended.report()


def test_motions_of_a_batch_end_one_by_one(sledge: Model) -> None:
    speeds = np.array([[0.1, 0.0], [1.0, 0.0], [-1.0, 0.0]])
    ended = sledge.simulate([0, 0], speeds, t=1.0, samples=11, stops="end")
    assert ended.status.tolist() == ["OK", "LIMIT", "LIMIT"]
    np.testing.assert_allclose(ended.time_reached, [1.0, 0.5, 0.3], rtol=1e-12)
    assert [passed.motion for passed in ended.limits_passed] == [(1,), (2,)]
    assert np.isfinite(ended.q[0]).all()
    assert np.isnan(ended.q[1, 6:]).all()
    with pytest.warns(ModelWarning, match="and 1 more of 3 motions"):
        sledge.simulate([0, 0], speeds, t=1.0, samples=11)


@pytest.mark.parametrize(("method", "tolerance"), [("tsit5", 1e-6), ("rk4", 1e-6), ("generalized_alpha", 1e-3)])
def test_a_spring_gives_the_speed_back(sledge: Model, method, tolerance) -> None:
    """A mass on a spring without damping: half a period in touch, v / w deep, and back with its speed."""
    total, speed, stiffness = MASS + 1.0, 2.0, 4e4
    w = np.sqrt(stiffness / total)
    touch, left = LIMIT / speed, LIMIT / speed + np.pi / w
    times = np.array([0.0, touch + np.pi / (2 * w), left + 0.1])
    result = sledge.simulate([0, 0], [speed, 0], t=times, stops=Stops(stiffness, 0.0), method=method, step=2e-5, max_step=1e-3)
    np.testing.assert_allclose(result.q[:, 0], [0.0, LIMIT + speed / w, LIMIT - speed * 0.1], rtol=tolerance, atol=tolerance)
    assert result.qd[-1, 0] == pytest.approx(-speed, rel=10 * tolerance)


def test_default_springs_hold_against_a_force(sledge: Model) -> None:
    """In the end the spring carries the force: F / k deep; its damper never pulls the joint towards the limit."""
    result = sledge.simulate([0, 0], t=3.0, F=Table([0.0, 2.0], [[20.0, 0.0], [0.0, 0.0]]), stops=Stops(), samples=301)
    assert result.q[:, 0].max() < LIMIT + 0.02
    assert result.limits_passed[0].coordinate == "slide"
    resting = result.q[150:200, 0]
    np.testing.assert_allclose(resting, LIMIT + 20.0 / ((MASS + 1.0) * 300.0**2), rtol=1e-6)
    assert result.qd[-1, 0] < 0.0  # released, it is pushed off
    assert (result.F[:, 0] <= 20.0 + 1e-9).all()


def test_springs_beside_every_kind_of_force(sledge: Model) -> None:
    for F in (None, [1.0, 0.0], elastogen.PD([0.9, 0.1], 50.0, 10.0), lambda t, q, qd: [5.0, 0.0]):
        result = sledge.simulate([0.4, 0], [1.0, 0], t=0.5, F=F, stops=Stops(), samples=51)
        assert result.q[:, 0].max() < LIMIT + 0.01


@pytest.mark.parametrize(
    "wrong", [None, 7, "stop", Stops, Stops("x"), Stops(-1.0), Stops([1.0, 2.0, 3.0]), Stops(np.nan), Stops(1.0, np.inf)]
)
def test_wrong_stops_are_refused(sledge: Model, wrong) -> None:
    with pytest.raises(ModelError, match=r"stops=|Stops\."):
        sledge.simulate([0, 0], t=0.1, stops=wrong)


def test_robots_without_limits(pendulum: Model) -> None:
    assert pendulum.simulate([0.1], t=0.1, stops="end").status == "OK"
    with pytest.raises(ModelError, match="has no limits"):
        pendulum.simulate([0.1], t=0.1, stops=Stops())


def test_the_command_takes_stops(tmp_path, capsys) -> None:
    import json

    robot = tmp_path / "sledge.yaml"
    robot.write_text(json.dumps(SLEDGE))
    command = ["simulate", str(robot), "--seconds", "2", "--qd0", "1,0", "--no-plot"]
    assert main([*command, "--stops", "end"]) == 0
    assert "ended at the limit of a joint" in (printed := capsys.readouterr().out)
    assert "slide passed its limit 0.5 m at t = 0.5 s" in printed
    assert main([*command, "--stops", "springs"]) == 0
    assert "slide: from 0 to 0.5" not in capsys.readouterr().out


HUB, FORCE = 4.0, 3.0


@pytest.fixture(scope="module")
def free_sledge() -> Model:
    """A body that slides on a free hub: the relative motion has the reduced mass."""
    links = [{"name": "hub", "mass": HUB, "inertia": [1, 1, 1]}, {"name": "body", "mass": MASS, "inertia": [0.1, 0.1, 0.1]}]
    joints = [{**SLEDGE["joints"][0], "parent": "hub"}]
    return elastogen.build_model({**SLEDGE, "name": "free_sledge", "base": "floating", "links": links, "joints": joints},
                                 outputs="simulation")  # fmt: skip


@METHODS
def test_limits_behind_a_free_base(free_sledge: Model, method) -> None:
    """x = F t^2 / (2 m), 1 / m = 1 / m_body + 1 / m_hub; the coordinate after seven of the base, its rate after six."""
    F, time = [0.0] * 6 + [FORCE], np.sqrt(2 * LIMIT * MASS * HUB / (MASS + HUB) / FORCE)
    with pytest.warns(ModelWarning, match="slide passed its limit"):
        said = free_sledge.simulate(free_sledge.neutral(), t=1.0, F=F, method=method, step=1e-3)
    assert said.limits_passed[0].coordinate == "slide"
    assert said.limits_passed[0].time == pytest.approx(time, rel=1e-6)
    ended = free_sledge.simulate(free_sledge.neutral(), t=1.0, F=F, method=method, step=1e-3, stops="end")
    assert ended.status == "LIMIT"
    assert ended.q[-1, 7] == pytest.approx(LIMIT, rel=1e-6)


def test_springs_behind_a_free_base(free_sledge: Model) -> None:
    """In the end the spring carries the force, and the whole stands still as it began."""
    F = [0.0] * 6 + [FORCE]
    result = free_sledge.simulate(free_sledge.neutral(), t=3.0, F=F, stops=Stops(), samples=4)
    reduced = MASS * HUB / (MASS + HUB)
    assert result.q[-1, 7] == pytest.approx(LIMIT + FORCE / (reduced * 300.0**2), rel=1e-6)
    centre = (HUB * result.q[:, 0] + MASS * (result.q[:, 0] + result.q[:, 7])) / (HUB + MASS)
    np.testing.assert_allclose(centre, 0.0, atol=1e-9)
