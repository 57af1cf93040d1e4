"""Springs beside the joints are estimated and written as a term; own terms of a robot are subtracted as described."""

from __future__ import annotations

import numpy as np
import pytest

import elastogen

pytest.importorskip("scipy")

ARM = """\
elastogen: 1
name: arm
gravity: [0, 0, -9.81]
links:
  - {name: base}
  - {name: upper, mass: 3.0, com: [0.2, 0.02, 0.01], inertia: {xx: 0.02, yy: 0.06, zz: 0.07}}
  - {name: lower, mass: 1.5, com: [0.15, -0.01, 0.03], inertia: {xx: 0.01, yy: 0.03, zz: 0.03}}
joints:
  - {name: shoulder, type: revolute, axis: [0, 1, 0], friction: {viscous: 0.8}}
  - {name: elbow, type: revolute, axis: [0, 1, 0], placement: {xyz: [0.4, 0, 0]}, friction: {viscous: 0.5}}
"""
HOSE = "terms:   # from the catalogue\n  - {name: hose, forces: {elbow: \"-0.6*sin(q('elbow'))\"}}\n"
SPRINGS = np.array([4.0, -1.5])
PARAMETERS = ["inertia", "viscous"]


def course(count=2):
    """q, qd, qdd in closed form."""
    t, found = np.arange(0, 12, 0.01), []
    speeds, rng = (1.1, 2.7, 4.3), np.random.default_rng(3)
    phases = rng.uniform(0, 6, (len(speeds), count))
    for order in range(3):
        angle = [
            0.6 * w ** (order - 0.5) * np.sin(np.outer(t, [w] * count) + p + order * np.pi / 2)
            for w, p in zip(speeds, phases, strict=True)
        ]
        found.append(np.sum(angle, axis=0))
    return t, *found


def run_of(forces):
    t, q, qd, qdd = course()
    return {"time": t, "q": q, "qd": qd, "qdd": qdd, "F": forces(q, qd, qdd)}


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    """Measured from the arm without terms, whose forces are changed by hand."""
    folder = tmp_path_factory.mktemp("springs")
    (folder / "arm.yaml").write_text(ARM)
    (folder / "hose.yaml").write_text(ARM + HOSE)
    return folder, elastogen.build_model(folder / "arm.yaml", outputs=["inverse_dynamics"])


def test_own_terms_are_subtracted(arm):
    folder, model = arm
    hose = lambda q: np.stack([0 * q[:, 1], 0.6 * np.sin(q[:, 1])], axis=1)  # noqa: E731
    run = run_of(lambda q, qd, qdd: model.inverse_dynamics(q, qd, qdd) + hose(q))
    found = elastogen.identify(folder / "hose.yaml", run, parameters=PARAMETERS, cutoff=0)
    assert found.trained[0].total < 1e-6  # was 4 % and more: masses stood for the hose
    assert found["joints.elbow.friction.viscous"].value == pytest.approx(0.5, rel=1e-6)


def test_springs_come_back_and_are_written(arm):
    folder, model = arm
    run = run_of(lambda q, qd, qdd: model.inverse_dynamics(q, qd, qdd) + SPRINGS * q)
    poor = elastogen.identify(folder / "arm.yaml", run, parameters=PARAMETERS, cutoff=0)
    assert poor.trained[0].total > 0.01
    found = elastogen.identify(folder / "arm.yaml", run, parameters=[*PARAMETERS, "spring"], cutoff=0, consistent=False)
    for joint, stiffness in zip(("shoulder", "elbow"), SPRINGS, strict=True):
        assert found[f"joints.{joint}.spring"].value == pytest.approx(stiffness, rel=1e-8)
    path = elastogen.identify(folder / "arm.yaml", run, parameters=[*PARAMETERS, "spring"], cutoff=0).save(
        folder / "found.yaml"
    )
    text = path.read_text()
    assert "identified_springs" in text
    saved = elastogen.build_model(path, outputs=["inverse_dynamics"])
    computed = saved.inverse_dynamics(run["q"], run["qd"], run["qdd"])
    assert np.abs(computed - run["F"]).max() < 1e-4 * np.abs(run["F"]).max()
    again = elastogen.identify(path, run, parameters=[*PARAMETERS, "spring"], cutoff=0)  # replaced, not added once more
    assert again["joints.shoulder.spring"].described == pytest.approx(SPRINGS[0], rel=1e-3)
    assert again["joints.shoulder.spring"].value == pytest.approx(SPRINGS[0], rel=1e-3)
    assert again.save(folder / "again.yaml").read_text().count("identified_springs") == 1
    alone = elastogen.identify(path, run, parameters=["viscous"], cutoff=0)  # a known spring is not forgotten
    assert alone.trained[0].total < 1e-3


def test_springs_and_own_terms_stand_beside_each_other(arm):
    folder, model = arm
    hose = lambda q: np.stack([0 * q[:, 1], 0.6 * np.sin(q[:, 1])], axis=1)  # noqa: E731
    run = run_of(lambda q, qd, qdd: model.inverse_dynamics(q, qd, qdd) + hose(q) + SPRINGS * q)
    found = elastogen.identify(folder / "hose.yaml", run, parameters=[*PARAMETERS, "spring"], cutoff=0)
    assert found["joints.elbow.spring"].value == pytest.approx(SPRINGS[1], rel=1e-3)
    text = found.save(folder / "both.yaml").read_text()
    assert "# from the catalogue" in text
    assert "name: hose" in text


def test_only_joints_with_a_spring_get_one(arm):
    folder, model = arm
    stiffness = np.array([0.0, SPRINGS[1]])
    run = run_of(lambda q, qd, qdd: model.inverse_dynamics(q, qd, qdd) + stiffness * q)
    noise = np.random.default_rng(3).normal(0, 0.01, run["F"].shape)
    found = elastogen.identify(folder / "arm.yaml", {**run, "F": run["F"] + noise}, cutoff=0)
    assert [e.name for e in found.estimates if e.name.endswith(".spring")] == ["joints.elbow.spring"]
    assert found["joints.elbow.spring"].value == pytest.approx(SPRINGS[1], rel=0.05)
