"""What the identified numbers predict: free estimates, gains of sensors, smoothed motions, laws of friction per drive."""

from __future__ import annotations

import numpy as np
import pytest
from measured_arm import ARM, content, measured

import elastogen

pytest.importorskip("scipy")


@pytest.fixture(scope="module")
def run():
    return measured(ARM)


@pytest.fixture(scope="module")
def other():
    return measured(ARM, seed=1)


def guessed(text=ARM):
    return content(text.replace("mass: 3.0", "mass: 2.0").replace("mass: 2.0, com: [0.15", "mass: 3.0, com: [0.12"))


def test_free_estimates_predict_what_was_estimated(run, other):
    """The errors are those of the estimates, not of the description, and are the errors of plain linear algebra."""
    free = elastogen.identify(guessed(), run, validate=other, cutoff=0, consistent=False)
    whole = elastogen.identify(guessed(), run, validate=other, cutoff=0)
    described = elastogen.build_model(guessed(), outputs=["inverse_dynamics"])
    before = described.inverse_dynamics(other["q"], other["qd"], other["qdd"]) - other["F"]
    assert np.linalg.norm(before) > 0.1 * np.linalg.norm(other["F"])
    for one, both in ((free.trained, whole.trained), (free.validated, whole.validated)):
        assert one[0].total == pytest.approx(both[0].total, rel=0.05)
    assert free.trained[0].total <= whole.trained[0].total * (1 + 1e-4)


def test_free_estimates_that_no_robot_has_are_not_written(run, other, tmp_path):
    poor = content(ARM.replace("mass: 3.0", "mass: 0.1").replace("mass: 2.0", "mass: 0.02"))
    free = elastogen.identify(poor, run, validate=other, cutoff=0, consistent=False)
    assert "positive definite" in free.impossible
    assert any("no robot has these free estimates" in text for text in free.warnings)
    assert free.validated[0].total < 0.025  # 2 % of noise were added
    target = tmp_path / "mine.yaml"
    target.write_text("precious")
    with pytest.raises(elastogen.IdentificationError, match=r"no robot has.*--free"):
        free.save(target)
    assert target.read_text() == "precious"


def test_gains_are_told_from_each_other(run, other):
    """The elbow's sensor shows 5 % too much; a factor of all forces is a matter of the prior."""
    wrong = np.array([1.0, 1.05])
    found = elastogen.identify(
        content(ARM), run | {"F": run["F"] * wrong}, parameters=["default", "gains"],
        validate=other | {"F": other["F"] * wrong}, cutoff=0,
    )  # fmt: skip
    gains = [found[f"gains.{name}"].value for name in ("shoulder", "elbow")]
    assert gains[0] / gains[1] == pytest.approx(1.05, rel=0.01)
    assert gains[0] == pytest.approx(1.0, abs=0.1)
    assert found.validated[0].total < 0.025


def test_slopes_are_those_of_differences(run):
    """All unknowns: widths, breakaway of one drive, loads, gains; central differences."""
    from elastogen.identification.choices import Choice, choose
    from elastogen.identification.equations.bodies import estimated_bodies
    from elastogen.identification.equations.problem import body_model, pose
    from elastogen.identification.measurements.clean import Piece
    from elastogen.identification.measurements.signals import prepare

    robot = elastogen.load(content(ARM))
    kinds = choose(["inertia", "viscous", "coulomb", "width", "offset", "stribeck", "load", "rotor", "gains"]).kinds
    choice = Choice(kinds, (), {"stribeck": frozenset([1]), "width": frozenset([0])})
    piece = Piece("a", 0.01, run["time"], run["q"], run["qd"], run["qdd"], run["F"])
    problem = pose(robot, body_model(robot), [prepare(piece, 4.0)], estimated_bodies(robot, choice), choice)
    names = [unknown.name for unknown in problem.unknowns]
    assert names.count("breakaway") == names.count("log_width") == 1
    assert names.count("load") == 2
    rng = np.random.default_rng(0)
    z = problem.described + 0.02 * rng.standard_normal(len(problem.described))
    for k, unknown in enumerate(problem.unknowns):
        z[20 + k] = np.clip(z[20 + k] + 0.1, unknown.lower, unknown.upper)
    slopes = problem.slopes(z)[0]
    for k in range(len(z)):
        h = 1e-6 * np.eye(len(z))[k]
        central = (problem.differences(z + h)[0] - problem.differences(z - h)[0]) / 2e-6
        np.testing.assert_allclose(slopes[:, :, k], central, atol=1e-6 * max(np.abs(central).max(), 1.0))


def test_the_widths_of_the_sign_come_back():
    text = ARM.replace("viscous: 0.2, coulomb: 0.6", "viscous: 0.2, coulomb: 0.6, coulomb_velocity: 0.15")
    bare = content(ARM.replace("friction: {viscous: 0.8, coulomb: 1.1}", "friction: {viscous: 0.8}").replace(
        "friction: {viscous: 0.2, coulomb: 0.6}", "friction: {viscous: 0.2}"))  # fmt: skip
    found = elastogen.identify(bare, measured(text), cutoff=0)
    assert any("friction of elbow: width estimated, too" in note for note in found.notes)
    for joint, true, near in (("elbow", 0.15, 0.005), ("shoulder", 0.01, 0.001)):
        width = found[f"joints.{joint}.friction.coulomb_velocity"]
        assert abs(width.value - true) < 4 * width.standard_error
        assert width.standard_error < near
    width = found["joints.elbow.friction.coulomb_velocity"]
    assert found.robot.joints[1].actuation.coulomb_velocity == pytest.approx(width.value)


def test_noise_of_positions_is_smoothed_where_forces_have_less(run):
    """Positions are noise above the frequencies of the motion; forces are not."""
    rng = np.random.default_rng(3)
    noisy = {key: run[key] for key in ("time", "F")} | {"q": run["q"] + 2e-4 * rng.standard_normal(run["q"].shape)}
    found = elastogen.identify(content(ARM), noisy, cutoff=8.0)
    assert found.smooth < found.cutoff == 8.0
    assert any("smoothed at" in note for note in found.notes)
    exact = {key: run[key] for key in ("time", "q", "qd", "qdd", "F")}
    assert elastogen.identify(content(ARM), exact, cutoff=8.0).smooth == 8.0
