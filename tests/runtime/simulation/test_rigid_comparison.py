"""The rigid robot of the same numbers, robots' own experiments, and the comparison of flexible and rigid motions."""

from __future__ import annotations

import dataclasses
import json
import sys
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import elastogen
from elastogen import PD, BangBang, CFunction, Comparison, ElastogenError, ModelError, RobotError, Table, Waypoints
from elastogen.build.identity import model_sha256
from elastogen.build.options import BuildOptions
from elastogen.command_line import main
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.robot.experiment import BangBangForces, ConstantForces, Experiment, HoldPosition
from elastogen.runtime.simulation.comparison import TipDeflection

FUNCTIONS = ("mass_matrix", "inverse_dynamics", "forward_kinematics", "potential_energy")
BEAM = {
    "type": "modes", "length": 0.5, "mass_per_length": 0.8, "EI": 30, "GJ": 20, "polar_inertia_per_length": 1e-3,
    "modes": [{"direction": "y", "eigenfunction": 1}, {"direction": "torsion", "shape": "x / L"}],
    "tip": {"mass": 0.2, "com": [0.02, 0.01, 0], "inertia": [1e-3, 2e-3, 2e-3]},
}  # fmt: skip
SPATIAL: dict[str, Any] = {
    "elastogen": 1,
    "name": "spatial",
    "live": ["gravity", "payload", "links.upper.mass", "links.lower.flexible.tip.mass"],
    "links": [
        {"name": "base"},
        {"name": "column", "mass": 1.0, "com": [0, 0, 0.1], "inertia": [0.1, 0.1, 0.1]},
        {"name": "upper", "mass": 0.3, "com": [0.01, 0.02, 0.03], "inertia": [1e-3, 1e-3, 1e-3], "flexible": BEAM},
        {"name": "lower", "flexible": {**BEAM, "modes": [{"direction": "z", "eigenfunction": 1}]}},
        {"name": "hand", "mass": 0.1, "com": [0.05, 0, 0], "inertia": [1e-4, 1e-4, 1e-4]},
    ],
    "joints": [
        {"name": "turn", "type": "revolute", "child": "column", "motor": {"inertia": 0.01, "gear_ratio": 3}},
        {"name": "shoulder", "type": "revolute", "child": "upper", "axis": [0, -1, 0], "placement": {"xyz": [0, 0, 0.3]},
         "friction": {"viscous": 0.2}},
        {"name": "elbow", "type": "revolute", "child": "lower", "axis": [0, -1, 0], "placement": {"rpy": [0.2, 0, 0.1]},
         "motor": {"inertia": 0.02}, "elasticity": {"stiffness": 300, "damping": 1}},
        {"name": "wrist", "type": "fixed", "child": "hand", "placement": {"xyz": [0.02, 0, 0]}},
    ],
    "tip": {"link": "lower", "xyz": [0.03, 0, 0.01]},
    "payload": {"mass": 0.2, "com": [0.01, 0, 0]},
}  # fmt: skip


def planar(*links: dict[str, Any], **more: Any) -> dict[str, Any]:
    beam = {"length": 0.8, "mass_per_length": 0.5, "EI": 0.4, "elements": 2, "mass": 0.2, "inertia": 0.01}
    described = {"links": [{**beam, **link} for link in links], "payload": {"mass": 0.1}, "gravity": [0.5, -9.81]}
    return {"elastogen": 1, "name": "chain", "planar": described, **more}


def evaluate(found: dict[str, Any], name: str, parameters: dict[str, float], **given: Any) -> Any:
    return next(iter(found[name].evaluate(given, parameters).values()))


ROBOTS = {
    "spatial": SPATIAL,
    "R Pa": planar({"joint": "R"}, {"joint": "Pa", "gamma": 0.3}),
    "Pb R nodal": planar({"joint": "Pb", "gamma": 0.2, "slide": "nodal", "foreshortening": True}, {"joint": "R"}),
    "R Pb": planar({"joint": "R"}, {"joint": "Pb", "gamma": -0.4}),
}  # fmt: skip


@pytest.mark.parametrize("robot", ROBOTS.values(), ids=ROBOTS)
def test_an_undeformed_robot_is_the_rigid_one(robot: dict[str, Any], rng: np.random.Generator) -> None:
    """M, forces, poses and energy with the elastic coordinates locked at zero."""
    flexible = elastogen.load(robot)
    rigid = elastogen.rigid_robot(flexible)
    assert rigid.coordinate_names == tuple(joint.name for joint in flexible.moving_joints)
    assert list(rigid.live_parameters) == list(flexible.live_parameters)
    joints = [flexible.coordinate_names.index(name) for name in rigid.coordinate_names]
    long, short = ({f.name: f for f in derive_model(one, FUNCTIONS).functions} for one in (flexible, rigid))
    for _ in range(3):
        small = dict(zip(("q", "qd", "qdd"), rng.uniform(0.1, 0.7, (3, len(joints))), strict=True))
        wide = {key: np.zeros(len(flexible.coordinates)) for key in small}
        for key, values in small.items():
            wide[key][joints] = values
        live = {parameter.name: parameter.value + rng.uniform(0, 0.1) for parameter in flexible.live_parameters}
        expected, got = ({name: evaluate(found, name, live, **given) for name in FUNCTIONS}
                         for found, given in ((long, wide), (short, small)))  # fmt: skip
        expected["mass_matrix"] = expected["mass_matrix"][np.ix_(joints, joints)]
        expected["inverse_dynamics"] = expected["inverse_dynamics"][joints]
        for name in FUNCTIONS:
            scale = max(1.0, np.abs(expected[name]).max())
            np.testing.assert_allclose(got[name], expected[name], rtol=0, atol=1e-12 * scale, err_msg=name)


def test_rigid_robots_stay_what_they_are() -> None:
    robot = elastogen.load("two_link")
    rigid = elastogen.rigid_robot(robot, name="same")
    assert rigid == dataclasses.replace(robot, name="same", source=rigid.source)
    assert elastogen.rigid_robot({**SPATIAL, "name": "a" * 31}).name == "a" * 25 + "_rigid"


# ---- experiments


SWING = planar({"joint": "R"}, simulation={
    "seconds": "2 * T", "q0": {"joint1": 0.2, "link1.y2": 0.01}, "qd0": {"joint1": -0.1}, "method": "rk4", "step": 1e-3,
    "samples": 51, "note": "chosen", "input": {"constant": {"force": {"joint1": 0.3}}},
}, parameters={"T": {"value": 0.1}})  # fmt: skip


def with_simulation(**changes: Any) -> dict[str, Any]:
    return {**SWING, "simulation": {**SWING["simulation"], **changes}}


def test_experiments_are_data_of_the_robot() -> None:
    experiment = elastogen.load(SWING).experiment
    assert experiment == Experiment(
        0.2, {"joint1": 0.2, "link1.y2": 0.01}, {"joint1": -0.1}, ConstantForces({"joint1": 0.3}), "rk4", 1e-3, 51, "chosen"
    )
    assert experiment.of(["joint1"]).q0 == {"joint1": 0.2}
    bang = {"bang_bang": {"amplitude": {"joint1": 2}, "duration": 0.4, "start": 0.1}}
    assert elastogen.load(with_simulation(input=bang)).experiment.drive == BangBangForces({"joint1": 2.0}, 0.4, 0.1)
    hold = {"hold": {"kp": {"joint1": 50}, "kd": {"joint1": 5}}}
    assert elastogen.load(with_simulation(input=hold)).experiment.drive == HoldPosition({"joint1": 50.0}, {"joint1": 5.0})
    schema = json.loads((resources.files("elastogen.generator.description") / "robot.schema.json").read_text(encoding="utf-8"))
    for data in (SWING, with_simulation(input=bang), with_simulation(input=hold)):
        jsonschema.validate(data, schema)


def test_experiments_shape_no_code() -> None:
    options = BuildOptions.checked().emit
    robot = elastogen.load(SWING)
    assert model_sha256(robot, options) == model_sha256(dataclasses.replace(robot, experiment=None), options)


def test_arguments_of_an_experiment() -> None:
    arguments = elastogen.experiment_arguments(SWING)
    assert arguments["q0"].tolist() == [0.2, 0.0, 0.0, 0.01, 0.0]
    assert arguments["qd0"].tolist() == [-0.1, 0.0, 0.0, 0.0, 0.0]
    assert arguments["F"].tolist() == [0.3, 0.0, 0.0, 0.0, 0.0]
    assert (arguments["t"], arguments["method"], arguments["step"], arguments["samples"]) == (0.2, "rk4", 1e-3, 51)
    held = elastogen.experiment_arguments(with_simulation(input={"hold": {"kp": {"joint1": 50}, "kd": {}}}))["F"]
    assert isinstance(held, PD)
    assert held.reference is not None
    assert held.kp.tolist() == [50.0, 0.0, 0.0, 0.0, 0.0]
    with pytest.raises(ElastogenError, match=r"two_link: got a robot without an experiment, expected `simulation:`"):
        elastogen.experiment_arguments("two_link")


@pytest.mark.parametrize(("changes", "message"), [
    ({"q0": {"joint2": 1}}, r"simulation\.q0\.joint2: got 'joint2', expected the name of a coordinate.*did you mean 'joint1'"),
    ({"seconds": 0}, r"simulation\.seconds: got 0.*above zero"),
    ({"step": -1}, r"simulation\.step.*above zero"),
    ({"samples": 1}, r"simulation\.samples: got 1, expected 2 to"),
    ({"method": "euler"}, r"simulation\.method: got 'euler'"),
    ({"input": {}}, r"simulation\.input: .*one of the inputs constant, bang_bang, hold"),
    ({"input": {"constant": {"force": {"link1.y1": 1}}}}, r"force\.link1\.y1: .*expected the name of a joint: joint1"),
    ({"input": {"bang_bang": {"amplitude": {}, "duration": "-T"}}}, r"bang_bang\.duration.*above zero"),
    ({"input": {"bang_bang": {"amplitud": {}, "duration": 1}}}, r"bang_bang\.amplitud.*did you mean 'amplitude'"),
    ({"velocity": 1}, r"simulation\.velocity.*one of the keys seconds"),
])  # fmt: skip
def test_wrong_experiments_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(RobotError, match=message):
        elastogen.load(with_simulation(**changes))


# ---- comparisons


pytestmark = pytest.mark.filterwarnings("ignore::elastogen.ModelWarning", "ignore::elastogen.RobotWarning")
BUILD: dict[str, Any] = {"outputs": ("simulation", "forward_kinematics")}


@pytest.fixture(scope="module")
def swing() -> Comparison:
    return elastogen.compare_with_rigid(SWING, build=BUILD)


def test_what_is_left_out_comes_from_the_experiment(swing: Comparison) -> None:
    assert swing.note == "chosen"
    assert swing.t[-1] == pytest.approx(0.2)
    assert len(swing.t) == 51
    assert swing.flexible.method == swing.rigid.method == "rk4"
    assert swing.rigid.q[0].tolist() == [0.2]
    assert swing.rigid.qd[0].tolist() == [-0.1]
    assert swing.joints == ((0, 0),)
    other = elastogen.compare_with_rigid(SWING, build=BUILD, t=0.1, F=None, samples=6)
    assert not other.flexible.F.any()
    assert len(other.t) == 6


def test_deviation_is_of_the_tip(swing: Comparison) -> None:
    q, rigid = swing.flexible.q, swing.rigid.q[:, 0]
    angle = q[:, 0]
    tip = np.stack([0.8 * np.cos(angle) - np.sin(angle) * q[:, 3], 0.8 * np.sin(angle) + np.cos(angle) * q[:, 3]], axis=1)
    expected = tip - 0.8 * np.stack([np.cos(rigid), np.sin(rigid)], axis=1)
    np.testing.assert_allclose(swing.deviation[:, :2], expected, atol=1e-14)
    assert np.abs(swing.deviation).max() > 1e-3
    assert f"end-effector: up to {1e3 * np.linalg.norm(expected, axis=1).max():.3g} mm" in swing.report()


@pytest.mark.parametrize("F", [
    Table([0.0, 0.1], [[0.3, 0, 0, 0, 0], [-0.3, 0, 0, 0, 0]], "linear"),
    BangBang([0.3, 0, 0, 0, 0], 0.1),
    PD(Waypoints([0.0, 0.1], [[0.2, 0, 0, 0, 0], [0.3, 0, 0, 0, 0]]), [20.0, 0, 0, 0, 0], [1.0, 0, 0, 0, 0]),
    lambda t, q, qd: np.eye(5)[0] * (0.3 - q[0] - qd[0]),
])  # fmt: skip
def test_inputs_act_on_the_joints_of_both(F: Any) -> None:
    """The same input, written for the rigid robot alone."""
    c = elastogen.compare_with_rigid(SWING, build=BUILD, F=F)
    own: Any
    if isinstance(F, Table):
        own = Table(F.t, np.array(F.F)[:, :1], "linear")
    elif isinstance(F, BangBang):
        own = BangBang([0.3], 0.1)
    elif isinstance(F, PD):
        own = PD(Waypoints([0.0, 0.1], [[0.2], [0.3]]), 20.0, 1.0)
    else:
        own = lambda t, q, qd: 0.3 - q - qd  # noqa: E731
    model = elastogen.build_model(elastogen.rigid_robot(SWING), **BUILD)
    alone = model.simulate([0.2], [-0.1], t=0.2, F=own, method="rk4", step=1e-3, samples=51)
    np.testing.assert_array_equal(c.rigid.q, alone.q)


def test_what_cannot_be_compared() -> None:
    with pytest.raises(ElastogenError, match="two_link: got a rigid robot"):
        elastogen.compare_with_rigid("two_link", t=1.0)
    with pytest.raises(ElastogenError, match="chain: got no t="):
        elastogen.compare_with_rigid({key: value for key, value in SWING.items() if key != "simulation"}, build=BUILD)
    with pytest.raises(ModelError, match=r"chain: got a batch of shape \(2,\)"):
        elastogen.compare_with_rigid(SWING, build=BUILD, q0=np.zeros((2, 5)))
    with pytest.raises(ModelError, match="F= got a CFunction"):
        elastogen.compare_with_rigid(SWING, build=BUILD, F=CFunction(0))


def test_residual_vibration_is_measured(swing: Comparison) -> None:
    """A known vibration beside a drift and a weaker line; only what follows the forces counts."""
    t = np.linspace(0, 10, 2001)
    F = np.zeros((2001, 5))
    F[:400, 0] = 1.0
    wave = 0.004 * np.sin(2 * np.pi * 3.217 * t) + 0.0005 * np.cos(2 * np.pi * 11 * t)
    wave[:400] = 0.02
    displacement = np.outer(wave, [0, 1, 0])
    tip = TipDeflection("link1", displacement, 0 * displacement, (1,), ())
    c = dataclasses.replace(swing, flexible=dataclasses.replace(swing.flexible, t=t, F=F), deflections=(tip,))
    assert c.forces_end == 2.0
    (left,) = c.residuals()
    assert (left.link, left.axis, left.start) == ("link1", "y", 2.0)
    assert left.frequency == pytest.approx(3.217, rel=1e-3)
    assert left.amplitude == pytest.approx(0.0045, rel=0.02)
    forever = dataclasses.replace(c, flexible=dataclasses.replace(c.flexible, F=F + t[:, None]))
    assert forever.forces_end is None
    assert not list(forever.residuals())


# ---- the command


def test_robots_without_an_experiment_are_not_drawn_unasked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["simulate", "two_link", "--seconds", "0.1", "--outputs", "simulation"]) == 0
    assert "rigid" not in capsys.readouterr().out
    assert not list(tmp_path.iterdir())
    assert main(["simulate", "two_link", "--outputs", "simulation", "--beside-rigid"]) == 2
    assert "two_link: got a rigid robot" in capsys.readouterr().err


def test_without_matplotlib_the_command_says_so(
    swing: Comparison, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("swing.json.yaml").write_text(json.dumps(SWING))
    command = ["simulate", "swing.json.yaml", "--outputs", ",".join(BUILD["outputs"])]
    monkeypatch.setattr("elastogen.commands.motion.simulate.find_spec", lambda name: None)
    assert main(command) == 0
    assert "no plot: plots need matplotlib. Fix: pip install 'elastogen[plot]'." in capsys.readouterr().out
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert main([*command, "--plot", "asked.png"]) == 2
    assert "pip install 'elastogen[plot]'" in capsys.readouterr().err


def test_a_plot_that_nobody_asked_for_replaces_only_its_own(
    swing: Comparison, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    Path("swing.json.yaml").write_text(json.dumps(SWING))
    command = ["simulate", "swing.json.yaml", "--outputs", ",".join(BUILD["outputs"])]
    plot = Path(f"{SWING['name']}.png")
    plot.write_bytes(b"a photograph")
    assert main(command) == 0
    assert f"no plot: {plot} is there and was not drawn by elastogen. Fix: --plot FILE." in capsys.readouterr().out
    assert plot.read_bytes() == b"a photograph"
    plot.unlink()
    for _ in range(2):
        assert main(command) == 0
        assert f"wrote {plot}" in capsys.readouterr().out
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([plot.name, "swing.json.yaml"])


@pytest.mark.parametrize("name", ["x.jpeg2", "x"])
def test_a_plot_that_cannot_be_written_is_refused_before_the_simulation(
    swing: Comparison, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr("elastogen.build_model", lambda *_, **__: pytest.fail("a model was built"))
    assert main(["simulate", "two_link", "--plot", str(tmp_path / name)]) == 2
    assert name in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
