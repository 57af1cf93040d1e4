"""Functional mock-up units, taken in by another program (FMPy) and compared with ``simulate``."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_compilers import WARNINGS

import elastogen
from elastogen.build.export import project
from elastogen.generator.functions.derivation import ModelDerivation, derive_model

fmpy = pytest.importorskip("fmpy", reason="FMPy is not installed: pip install fmpy")
from fmpy.validation import validate_fmu  # noqa: E402

VERSIONS = ("fmu2", "fmu3")
FRAMES = ("gauge", "tip")  # of the flexible robot
PLACES = ("tip", "point.gauge", *(f"frame.{name}" for name in FRAMES))  # where it takes wrenches
AXES = [f"{kind}.{axis}" for kind in ("force", "moment") for axis in "xyz"]
BENDER = {
    "elastogen": 1,
    "name": "bender",
    "live": ["links.beam.mass"],
    "links": [
        {"name": "base"},
        {"name": "beam", "mass": 0.5, "inertia": [0.02, 0.02, 0.02], "flexible": {
            "type": "modes", "length": 0.8, "mass_per_length": 0.35, "EI": 5.0,
            "modes": [{"direction": "y", "shape": "(x/L)**2"}, {"direction": "z", "shape": "(x/L)**2"}]}},
    ],
    "joints": [{"name": "hub", "type": "revolute", "child": "beam", "axis": [0, 0, 1]}],
    "points": [{"name": "gauge", "link": "beam", "x": 0.3}],
}  # fmt: skip
SLIDER = {
    "elastogen": 1,
    "name": "slider",
    "planar": {
        "links": [
            {"joint": "R", "length": 0.8, "mass_per_length": 0.35, "EI": 1.0, "elements": 2},
            {"joint": "Pa", "gamma": 0.3, "rigid": True, "length": 0.2, "mass": 0.1, "inertia": 0.001},
        ]
    },
}


@dataclass
class Sample:
    """A robot with its start and its forces; the unit of each version."""

    robot: elastogen.Robot
    q: np.ndarray
    qd: np.ndarray
    forces: dict[str, float]
    units: dict[str, str]

    @property
    def start(self) -> dict[str, float]:
        """All of it, by the names of the unit's variables."""
        names = (*(f"q.{n}" for n in self.robot.coordinate_names), *(f"qd.{n}" for n in self.robot.velocity_names))
        return dict(zip(names, [*self.q, *self.qd], strict=True)) | {f"F.{n}": x for n, x in self.forces.items()}

    @property
    def F(self) -> np.ndarray:
        return np.array([self.forces.get(name, 0.0) for name in self.robot.velocity_names])


def sample(
    folder: Path, robot: elastogen.Robot, q: list[float], qd: list[float], frames: tuple[str, ...] = (), **forces: float
) -> Sample:
    units = {}
    derivations: list[ModelDerivation] = []  # one for both versions

    def derive_once(*given: Any, **options: Any) -> ModelDerivation:
        derivations.extend([] if derivations else [derive_model(*given, **options)])
        return derivations[0]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(project, "derive_model", derive_once)
        for version in VERSIONS:
            elastogen.export(robot, folder / version, format=version, frames=frames, cflags="-O0")
            units[version] = str(folder / version / f"{robot.name}.fmu")
    return Sample(robot, np.array(q), np.array(qd), forces, units)


@pytest.fixture(scope="module")
def rigid(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    robot = elastogen.load("two_link")
    return sample(tmp_path_factory.mktemp("rigid"), robot, [0.3, -0.4], [0.2, 0.1], shoulder=0.5, elbow=-0.2)


@pytest.fixture(scope="module")
def flexible(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    robot = elastogen.load(BENDER)
    return sample(tmp_path_factory.mktemp("flexible"), robot, [0.3, 0.02, -0.01], [0.1, 0.2, 0.3], FRAMES, hub=0.3)


@pytest.fixture(scope="module")
def sliding(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    q, qd = [0.3, 0, 0, 0, 0, 0.35], [0, 0, 0, 0, 0, 0.4]
    return sample(tmp_path_factory.mktemp("sliding"), elastogen.load(SLIDER), q, qd, joint1=0.02, joint2=0.12)


def simulated(unit: str, kind: str, start: dict[str, float], t: np.ndarray, **options: Any) -> Any:
    """The rows of a simulation by FMPy at the times t; of an event the last one."""
    result = fmpy.simulate_fmu(
        unit, fmi_type=kind, start_values=start, stop_time=t[-1], output_interval=t[1], relative_tolerance=1e-12, **options
    )
    return result[[np.flatnonzero(np.isclose(result["time"], x, atol=1e-9))[-1] for x in t]]


def columns(rows: Any, names: list[str]) -> np.ndarray:
    return np.array([rows[name] for name in names]).T


@pytest.mark.parametrize("name", ["rigid", "flexible", "sliding"])
def test_units_move_as_simulate(name: str, request: pytest.FixtureRequest) -> None:
    s: Sample = request.getfixturevalue(name)
    model = elastogen.build_model(s.robot, outputs=["simulation", "forward_kinematics"], cflags="-O0")
    t = np.linspace(0.0, 0.25, 51)
    expected = model.simulate(s.q, s.qd, t=t, F=s.F, rtol=1e-12, atol=1e-14, stops="ignore")
    assert len(expected.switches) == (1 if name == "sliding" else 0)
    tip = model.forward_kinematics(expected.q)[:, -1, :3, 3]
    for version, unit in s.units.items():
        assert validate_fmu(unit) == []
        for kind in ("CoSimulation", "ModelExchange"):
            rows = simulated(unit, kind, s.start, t)
            q = columns(rows, [f"q.{n}" for n in model.coordinate_names])
            qd = columns(rows, [f"qd.{n}" for n in model.velocity_names])
            assert np.allclose(q, expected.q, rtol=1e-9, atol=1e-9), (version, kind)
            own = kind == "CoSimulation"  # else FMPy's integrator has errors of its own, times the frequencies in velocities
            assert np.allclose(qd, expected.qd, rtol=1e-9, atol=1e-9 if own else 1e-7), (version, kind)
            assert np.allclose(columns(rows, ["tip.x", "tip.y", "tip.z"]), tip, rtol=0, atol=1e-9), (version, kind)


def test_live_parameters_wrenches_points_and_frames(flexible: Sample) -> None:
    """A changed mass, wrenches on tip, point and frames, against simulate with the same generalized forces."""
    s, t = flexible, np.linspace(0.0, 0.1, 11)
    names = ["simulation", "jacobian", "point_jacobians", "point_positions"]
    model = elastogen.build_model(s.robot, outputs=names, cflags="-O0")
    push, pull = np.array([0.3, -0.2, 0.5, 0.01, 0.02, -0.03]), np.array([-0.1, 0.4, 0.2, 0.02, -0.01, 0.03])
    mass = {"beam_mass": 0.8}
    assert set(mass) <= set(model.parameters)

    def forces(_: float, q: np.ndarray, __: np.ndarray) -> np.ndarray:
        return s.F + model.jacobian(q).T @ push + model.point_jacobians(q)[0].T @ pull

    expected = model.simulate(s.q, s.qd, t=t, F=forces, rtol=1e-12, atol=1e-14, parameters=mass)
    shares = dict(zip(PLACES, (0.4 * push, 0.7 * pull, 0.3 * pull, 0.6 * push), strict=True))
    loads = {f"{place}.{a}": x for place, share in shares.items() for a, x in zip(AXES, share, strict=True)}
    for version, unit in s.units.items():
        for kind in ("CoSimulation", "ModelExchange"):
            rows = simulated(unit, kind, s.start | loads | mass, t)
            q = columns(rows, [f"q.{n}" for n in model.coordinate_names])
            assert np.allclose(q, expected.q, rtol=1e-9, atol=1e-9), (version, kind)
            points = columns(rows, [f"point.gauge.{axis}" for axis in "xyz"])
            assert np.allclose(points, model.point_positions(q)[:, 0], rtol=0, atol=1e-12)
            for place, same in (("frame.gauge", "point.gauge"), ("frame.tip", "tip")):
                assert np.array_equal(rows[f"{place}.x"], rows[f"{same}.x"]), (version, kind)
            assert np.array_equal(rows["frame.tip.R21"], rows["tip.R21"])
            qd = columns(rows, [f"qd.{n}" for n in model.velocity_names])
            twist = columns(rows, [f"frame.tip.{part}.{axis}" for part in ("linear", "angular") for axis in "xyz"])
            assert np.allclose(twist, np.einsum("nij,nj->ni", model.jacobian(q), qd), rtol=0, atol=1e-12)
    with pytest.raises(AssertionError, match="changed"):  # without the loads it is another motion
        assert np.allclose(columns(simulated(unit, kind, s.start, t), ["q.hub"])[-1], expected.q[-1, :1]), "changed"


class Host:
    """One instance of a unit, by FMPy's own bindings; in event mode."""

    def __init__(self, unit: str, start: dict[str, float]) -> None:
        self.description = fmpy.read_model_description(unit)
        self.references = {v.name: v.valueReference for v in self.description.modelVariables}
        self.instance = fmpy.instantiate_fmu(fmpy.extract(unit), self.description, "ModelExchange")
        if self.description.fmiVersion == "2.0":
            self.instance.setupExperiment(startTime=0.0)
            self.instance.enterInitializationMode()
        else:
            self.instance.enterInitializationMode(startTime=0.0)
        self.set(start)
        self.instance.exitInitializationMode()

    def of(self, names: list[str]) -> list[int]:
        return [self.references[name] for name in names]

    def set(self, values: dict[str, float]) -> None:
        setter = self.instance.setReal if self.description.fmiVersion == "2.0" else self.instance.setFloat64
        setter(self.of(list(values)), list(values.values()))

    def get(self, names: list[str]) -> np.ndarray:
        getter = self.instance.getReal if self.description.fmiVersion == "2.0" else self.instance.getFloat64
        return np.array(getter(self.of(names)))

    def close(self) -> None:
        self.instance.terminate()
        self.instance.freeInstance()


def test_a_free_body_keeps_a_unit_quaternion(tmp_path: Path) -> None:
    brick = {"name": "brick", "mass": 2.0, "com": [0.1, 0.0, 0.05], "inertia": [0.02, 0.03, 0.04]}
    free = {"name": "free", "type": "floating", "child": "brick"}
    robot = elastogen.load({"elastogen": 1, "name": "tumbler", "links": [{"name": "ground"}, brick], "joints": [free]})
    s = sample(tmp_path, robot, [0, 0, 0, 0.5, -0.1, 0.7, 0.5], [0.1, 0.2, 0.3, 3.0, -2.0, 1.0])
    s.q[3:] /= np.linalg.norm(s.q[3:])
    t = np.linspace(0.0, 0.5, 6)
    expected = elastogen.build_model(robot, outputs="simulation", cflags="-O0").simulate(s.q, s.qd, t=t, rtol=1e-12, atol=1e-14)
    for kind in ("CoSimulation", "ModelExchange"):
        q = columns(simulated(s.units["fmu2"], kind, s.start, t), [f"q.{n}" for n in robot.coordinate_names])
        assert np.allclose(np.linalg.norm(q[:, 3:], axis=1), 1.0, rtol=0, atol=1e-6)
        assert np.allclose(q, expected.q, rtol=0, atol=1e-6), kind


@pytest.mark.parametrize("version", VERSIONS)
def test_directional_derivatives(flexible: Sample, version: str) -> None:
    """Against the matrices of forward_dynamics_derivatives, jacobian_rate and point_jacobian_rates, derived another way."""
    s, rng = flexible, np.random.default_rng(1)
    names = ["forward_dynamics_derivatives", "jacobian", "jacobian_rate", "point_jacobians", "point_jacobian_rates"]
    functions = {f.name: f for f in derive_model(s.robot, names).functions}
    parameters = {p.name: p.value for p in s.robot.live_parameters}
    n = len(s.q)
    wrench, dwrench, dq, dqd = (rng.standard_normal(size) for size in (24, 24, n, n))

    def value(name: str, **given: np.ndarray) -> list[np.ndarray]:
        return list(functions[name].evaluate({"q": s.q, **given}, parameters).values())

    tip, gauge = value("jacobian")[0], value("point_jacobians")[0][0]
    dtip, dgauge = value("jacobian_rate", qd=dq)[0], value("point_jacobian_rates", qd=dq)[0][0]
    J, dJ = np.vstack([tip, gauge, gauge, tip]), np.vstack([dtip, dgauge, dgauge, dtip])  # as PLACES
    by_q, by_qd, by_F = value("forward_dynamics_derivatives", qd=s.qd, F=s.F + J.T @ wrench)
    dF = np.array([0.7, 0.0, 0.0])
    expected = by_q @ dq + by_qd @ dqd + by_F @ (dF + J.T @ dwrench + dJ.T @ wrench)

    loads = [f"{place}.{axis}" for place in PLACES for axis in AXES]
    host = Host(s.units[version], s.start | dict(zip(loads, wrench, strict=True)))
    coordinates, velocities = s.robot.coordinate_names, s.robot.velocity_names
    known = host.of([*(f"q.{c}" for c in coordinates), *(f"qd.{v}" for v in velocities), "F.hub", *loads])
    change = [*dq, *dqd, 0.7, *dwrench]
    wanted = host.of([*(f"der(qd.{v})" for v in velocities), "tip.x", "tip.y", "tip.z", "point.gauge.x", "der(q.hub)", "q.hub"])
    got = np.array(host.instance.getDirectionalDerivative(wanted, known, change))
    assert np.allclose(got[:n], expected, rtol=1e-10, atol=1e-10)
    assert np.allclose(got[n:], [*(J[:3] @ dq), J[6] @ dq, dqd[0], dq[0]], rtol=1e-10, atol=1e-12)
    framed = host.of(["frame.gauge.y", "frame.tip.z", *(f"frame.tip.{part}.x" for part in ("linear", "angular"))])
    change_of_twist = dtip @ s.qd + tip @ dqd
    expected = [gauge[1] @ dq, tip[2] @ dq, change_of_twist[0], change_of_twist[3]]
    assert np.allclose(host.instance.getDirectionalDerivative(framed, known, change), expected, rtol=1e-10, atol=1e-12)
    with pytest.raises(Exception, match="Directional"):
        host.instance.getDirectionalDerivative(wanted[:1], host.of(["beam_mass"]), [1.0])
    host.close()


@pytest.mark.parametrize("place", PLACES)
def test_a_pull_along_one_axis_alone(flexible: Sample, place: str) -> None:
    """Accelerations are linear in a wrench, whatever its sign and however many of its numbers are zero."""
    found = []
    for size in (0.0, 0.5, -0.5):
        host = Host(flexible.units["fmu2"], flexible.start | {f"{place}.{AXES[1]}": size})
        found.append(host.get([f"der(qd.{n})" for n in flexible.robot.velocity_names]))
        host.close()
    rest, push, pull = found
    assert np.abs(push - rest).max() > 1e-3
    np.testing.assert_allclose(pull - rest, rest - push, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("version", VERSIONS)
def test_two_units_in_one_host_and_kept_states(rigid: Sample, flexible: Sample, version: str) -> None:
    first, second = Host(rigid.units[version], rigid.start), Host(flexible.units[version], flexible.start)
    third = Host(rigid.units[version], rigid.start | {"q.shoulder": 0.9})
    before = [host.get(["tip.x", "tip.y"]) for host in (first, second, third)]
    assert len({tuple(x) for x in before}) == 3
    kept = first.instance.getFMUState()
    first.set({"q.shoulder": -1.0, "payload_mass": 2.0})
    assert not np.allclose(first.get(["tip.x", "tip.y"]), before[0])
    assert np.array_equal(third.get(["tip.x", "tip.y"]), before[2])
    first.instance.setFMUState(kept)
    assert np.array_equal(first.get(["tip.x", "tip.y"]), before[0])
    assert first.get(["payload_mass"])[0] != 2.0
    data = first.instance.serializeFMUState(kept)
    third.instance.setFMUState(third.instance.deserializeFMUState(data))
    assert np.array_equal(third.get(["tip.x", "tip.y"]), before[0])
    for wrong in (data[:-1], bytes(len(data))):
        with pytest.raises(fmpy.fmi1.FMICallException, match="error"):
            third.instance.deserializeFMUState(wrong)
    third.instance.reset()
    assert third.get(["q.shoulder"])[0] == 0.0
    first.instance.freeFMUState(kept)
    with pytest.raises(fmpy.fmi1.FMICallException, match="fail"):
        first.set({"tip.x": 0.0})  # an output
    for host in (first, second, third):
        host.close()


def test_units_of_two_robots_link_into_one_program(rigid: Sample, flexible: Sample, tmp_path: Path) -> None:
    objects = []
    for s in (rigid, flexible):
        with zipfile.ZipFile(s.units["fmu3"]) as archive:
            archive.extractall(tmp_path / s.robot.name)
        for source in sorted((tmp_path / s.robot.name / "sources").glob("*.c")):
            target = tmp_path / f"{source.stem}.o"
            prefix = f"-DFMI3_FUNCTION_PREFIX={s.robot.name}_"
            subprocess.run(["cc", *WARNINGS, "-O0", prefix, "-c", source, "-o", target], check=True)
            objects.append(str(target))
    calls = "".join(f"puts({s.robot.name}_fmi3GetVersion());" for s in (rigid, flexible))
    declared = "".join(f"const char *{s.robot.name}_fmi3GetVersion(void);" for s in (rigid, flexible))
    (tmp_path / "main.c").write_text(f"#include <stdio.h>\n{declared}\nint main(void) {{ {calls} return 0; }}\n")
    subprocess.run(["cc", "main.c", *objects, "-lm", "-o", "main"], cwd=tmp_path, check=True)
    assert subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout.split() == ["3.0", "3.0"]


def test_the_sources_pass_the_compilers(sliding: Sample, tmp_path: Path) -> None:
    for version, unit in sliding.units.items():
        with zipfile.ZipFile(unit) as archive:
            archive.extractall(tmp_path / version)
        sources = sorted((tmp_path / version / "sources").glob("*.c"))
        assert len(sources) == 5
        subprocess.run(["cc", *WARNINGS, "-fsyntax-only", *sources], check=True)


def test_a_joint_that_leaves_its_beam_is_reported(sliding: Sample) -> None:
    for unit in sliding.units.values():
        said: list[str] = []

        def log(*words: object, to: list[str] = said) -> None:
            to.append(" ".join(map(str, words)))

        with pytest.raises(fmpy.fmi1.FMICallException, match="fail"):
            fmpy.simulate_fmu(
                unit, fmi_type="CoSimulation", start_values=sliding.start | {"qd.joint2": 5.0}, stop_time=1.0,
                logger=log, debug_logging=True,
            )  # fmt: skip
        assert any("left its beam" in line for line in said)


def test_the_example_runs_and_bytes_repeat(rigid: Sample, tmp_path: Path) -> None:
    again = elastogen.export(rigid.robot, tmp_path / "again", format="fmu2", cflags="-O0")
    archive = next(path for path in again.files if path.suffix == ".fmu")
    assert archive.read_bytes() == Path(rigid.units["fmu2"]).read_bytes()
    done = subprocess.run([sys.executable, "example.py"], cwd=tmp_path / "again", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "q.shoulder = " in done.stdout
    with zipfile.ZipFile(archive) as entries:
        assert {entry.date_time for entry in entries.infolist()} == {(1980, 1, 1, 0, 0, 0)}


@pytest.mark.parametrize(("options", "words"), [({"loop": True}, "loop=True"), ({"outputs": ["mass_matrix"]}, "outputs=")])
def test_what_units_do_not_take(tmp_path: Path, options: dict[str, Any], words: str) -> None:
    with pytest.raises(elastogen.OutputError, match=words):
        elastogen.export("two_link", tmp_path / "x", format="fmu2", **options)
    assert not (tmp_path / "x").exists()
