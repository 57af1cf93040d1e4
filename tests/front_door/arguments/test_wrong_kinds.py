"""Arguments of another kind than expected, of functions of every room: an error of ours that names them, never numpy's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import elastogen
from elastogen import ElastogenError, Gauge, Model, ModelError, OutputError, Point, RobotError, Trajectory
from elastogen.runtime.loop.controllers import closed_loop, lqr, vibrations
from elastogen.runtime.loop.stability import LinearRobot
from elastogen.runtime.motion.geodesics import geodesics
from elastogen.runtime.motion.profiles import bang_bang_input, trapezoidal
from elastogen.runtime.motion.shaping import Shaper, zv
from elastogen.runtime.motion.trajectory import cubic

ZERO = np.zeros(2)
ONE = np.ones((1, 1))
HUGE = 10**400
MOVE = Trajectory(np.array([0.0, 1.0]), np.zeros((1, 2, 4)))
ODD: tuple[Any, ...] = (None, 3, b"x", [None], {3: 4}, [[1], [2, 3]], np.zeros((2, 2)), np.array("x"))


@pytest.fixture(scope="module")
def robot() -> elastogen.Robot:
    return elastogen.load("two_link")


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_names(robot: elastogen.Robot, odd: Any) -> None:
    """Where a name is expected, whatever else is given."""
    closed = elastogen.derive(robot)
    calls: list[Callable[[], object]] = [
        lambda: elastogen.load("two_link", mimic=odd),
        lambda: elastogen.load("two_link", live=[odd]),
        lambda: robot.with_terms(potential=1.0, parameters={"k": 1.0}, live=[odd]),
        lambda: elastogen.derive(robot, symbolic=odd),
        lambda: closed.latex(odd),
        lambda: closed.document(odd),
        lambda: closed.function(odd),
        lambda: closed.entries(odd),
        lambda: closed.latex("mass_matrix", frame=odd),
        lambda: closed.angular_velocities(odd),
        lambda: elastogen.generate(robot.with_points(Point("a", link=odd)), "out"),
        lambda: elastogen.generate(robot.with_points(Point("a", joint=odd)), "out"),
        lambda: elastogen.generate(robot.with_points(Point("a", link="upper", pose=odd)), "out"),
    ]
    if odd is not None:
        calls += [
            lambda: elastogen.load("two_link", tip=odd),
            lambda: elastogen.load("two_link", base=odd),
            lambda: elastogen.rigid_robot(robot, name=odd),
            lambda: closed.latex("mass_matrix", entry=odd),
            lambda: robot.with_terms(potential=1.0, forces=odd),
        ]
    for call in calls:
        with pytest.raises(ElastogenError, match="expected"):
            call()


def test_messages(robot: elastogen.Robot) -> None:
    with pytest.raises(RobotError, match=r"links: got 'uper', expected the name of a link\. Fix: did you mean 'upper'"):
        robot.link("uper")
    with pytest.raises(RobotError, match="base: got '', expected None or 'fixed' or 'floating' or 'driven'"):
        elastogen.load("two_link", base="")  # type: ignore[arg-type]
    with pytest.raises(OutputError, match="elements=3, expected a mapping of sliding joints"):
        elastogen.derive(robot).function("mass_matrix", 3)  # type: ignore[arg-type]
    with pytest.raises(OutputError, match="with_gravity=1, expected True or False"):
        elastogen.derive(robot).linear_accelerations(with_gravity=1)  # type: ignore[arg-type]


def test_flags_are_true_or_false(tmp_path: Path) -> None:
    """A text such as "no" would count as True: files would be replaced, lanes built."""
    calls: list[tuple[Callable[..., object], tuple[str, ...]]] = [
        (lambda **flag: elastogen.build_model("two_link", **flag), ("native", "lanes", "verbose")),
        (lambda **flag: elastogen.generate("two_link", tmp_path, **flag), ("force",)),
        (lambda **flag: elastogen.generate_loop("two_link", tmp_path, **flag), ("force",)),
        (lambda **flag: elastogen.export("two_link", tmp_path, **flag), ("loop", "header_only", "force")),
    ]
    for call, names in calls:
        for name in names:
            with pytest.raises(OutputError, match=f"{name}: got 'no', expected True or False"):
                call(**{name: "no"})
    assert not list(tmp_path.iterdir())


def test_gauges() -> None:
    arm = elastogen.load("flexible_one_link")
    beam = next(link.name for link in arm.links if link.flexible is not None)
    for gauge, words in ((3, "expected an elastogen.Gauge"), (Gauge("y", np.inf), "offset: got inf, expected a finite number")):
        with pytest.raises(RobotError, match=words):
            elastogen.generate(arm.with_points(Point("a", link=beam, strain=gauge)), "out")  # type: ignore[arg-type]


CALLS: dict[str, tuple[Callable[[Model], object], str]] = {
    "imaginary parts, integrate": (lambda m: m.integrate([1j, 0], ZERO), "integrate: q="),
    "imaginary parts, difference": (lambda m: m.difference(ZERO, [1j, 0]), "difference: q1="),
    "None as NaN": (lambda m: m.integrate([None, 2], ZERO), "integrate: q="),
    "text as numbers": (lambda m: m.modes(["1", "2"]), "modes: q="),
    "text as forces": (lambda m: m.rhs(0.0, np.zeros(4), ["1", "2"]), "F= got"),
    "text as a state": (lambda m: m.simulate(["0", "1"], t=1.0), "q0="),
    "an endless integer": (lambda m: m.integrate(HUGE, ZERO), "integrate: q="),
    "an endless time": (lambda m: m.rhs(HUGE, np.zeros(4)), "expected a time"),
    "an endless step": (lambda m: m.simulate(ZERO, t=1.0, step=HUGE), "step=1000.*expected a positive number"),
    "ragged drives": (lambda m: m.rhs(0.0, np.zeros(4), elastogen.PD(ZERO, 1, 1, [[1], [2, 3]])), "PD.actuated="),  # type: ignore
    "drives by words": (lambda m: m.rhs(0.0, np.zeros(4), elastogen.PD(ZERO, 1, 1, ["no", "no"])), "dtype <U2"),  # type: ignore
    "endless samples": (lambda m: m.simulate(ZERO, t=1.0, samples=2**63), "do not fit into memory"),
    "energy by a word": (lambda m: m.simulate(ZERO, t=1.0, energy="no"), "energy='no', expected True"),  # type: ignore[arg-type]
    "gravity by a word": (lambda m: m.modes(ZERO, gravity="no"), "gravity='no', expected True"),  # type: ignore[arg-type]
    "a bar by a word": (lambda m: m.simulate(ZERO, t=1.0, progress="no"), "progress='no', expected True"),  # type: ignore[arg-type]
    "results as text": (lambda m: m.gravity_vector(ZERO, out=np.array(["1", "2"])), "dtype <U1"),
    "elements of one number": (lambda m: m.elements(3.0), r"elements: q has shape \(\), expected \(..., 2\)"),
    "elements of text": (lambda m: m.elements("x"), "elements: q='x', expected real numbers"),
    "a list of kernels": (lambda m: m.kernel(["mass_matrix"]), "expected the name of one"),  # type: ignore[arg-type]
    "no program": (lambda m: m.program(None), "program: function=None"),  # type: ignore[arg-type]
    "no frame": (lambda m: m.inverse_kinematics(None, ZERO), "frames=None"),  # type: ignore[arg-type]
    "no mapping": (lambda m: m.parameters.update(3), "update: got 3, expected a mapping"),  # type: ignore[arg-type]
    "records of another": (lambda m: m.loop().errors(np.zeros(3)), "expected those that loop.read"),
    "no records": (lambda m: m.loop().motion(None), "expected those that loop.read"),  # type: ignore[arg-type]
    "a start that is infinite": (lambda m: LinearRobot.of(m, np.array([np.inf, 0.0])), "no finite mass matrix at q="),
    "ragged values": (lambda m: m.loop().set_gains(values=[[1], [2, 3]]), "values: got"),  # type: ignore[list-item]
}


@pytest.mark.parametrize("case", CALLS)
def test_model(two_link: Model, case: str) -> None:
    call, words = CALLS[case]
    with pytest.raises(ModelError, match=words):
        call(two_link)


MOVES: dict[str, tuple[Callable[[], object], str]] = {
    "text as time": (lambda: MOVE("x"), "t: got 'x'"),
    "half a derivative": (lambda: MOVE(0.0, 0.5), "derivative=0.5"),  # type: ignore[arg-type]
    "peaks below zero": (lambda: MOVE.peaks(-1), "derivative=-1"),
    "no rate": (lambda: MOVE.sample(None), "rate=None, expected a positive number"),  # type: ignore[arg-type]
    "too many samples": (lambda: MOVE.sample(2.0**63), "expected at most"),
    "stretched backwards": (lambda: MOVE.stretched(-2.0), "factor=-2.0, expected a positive number"),
    "then nothing": (lambda: MOVE.then(None), "then: got None"),  # type: ignore[arg-type]
    "then another size": (lambda: MOVE.then(cubic([[0.0], [1.0]], [0, 1])), "then: got one of 1, expected a Trajectory of 2"),
    "breaks of words": (lambda: Trajectory(["a", "b"], MOVE.coefficients), "breaks: got"),  # type: ignore[arg-type]
    "no coefficients": (lambda: Trajectory(MOVE.breaks, None), "coefficients: got None"),  # type: ignore[arg-type]
    "held by a word": (lambda: Trajectory(MOVE.breaks, MOVE.coefficients, "no"), "hold='no'"),  # type: ignore[arg-type]
    "points of text": (lambda: cubic("x", [0, 1]), "points: got 'x'"),
    "an endless time": (lambda: cubic([[0.0], [1.0]], [0, np.inf]), "times: got"),
    "times that descend": (lambda: cubic([[0.0], [1.0]], [1, 0]), r"got times=\[1.0, 0.0\], times must ascend"),
    "three velocities": (lambda: cubic([[0.0], [1.0]], [0, 1], start_velocity=[1, 2, 3]), r"velocity: got shape \(3,\)"),
    "three limits": (lambda: trapezoidal([[0.0], [1.0]], velocity=[1, 1, 1], acceleration=1), "velocity="),
    "synchronized by a word": (
        lambda: trapezoidal([[0.0], [1.0]], velocity=1, acceleration=1, synchronize="no"),
        "synchronize='no', expected True",  # type: ignore
    ),
    "no signs": (lambda: bang_bang_input([1.0], [0.0, 1.0, 2.0], None), "signs: got None"),  # type: ignore[arg-type]
    "a mode of text": (lambda: zv("5"), "frequency: got '5', expected a positive number"),  # type: ignore[arg-type]
    "two damping ratios": (lambda: zv(5.0, [0.1, 0.2]), r"damping: got \[0.1, 0.2\], expected a damping ratio"),  # type: ignore[arg-type]
    "no damping ratio": (lambda: zv(5.0).residual(5.0, 1.5), "damping: got 1.5, expected a damping ratio"),
    "no period": (lambda: zv(5.0).taps(0.0), "period: got 0.0, expected a positive number"),
    "impulses of 2": (lambda: Shaper([0.0, 1.0], [1.0, 1.0]), "expected numbers that add up to 1"),  # type: ignore[arg-type]
    "impulses of the past": (lambda: Shaper([-1.0, 1.0], [0.5, 0.5]), "expected seconds from 0"),  # type: ignore[arg-type]
    "an impulse without gain": (lambda: Shaper([0.0, 1.0], [1.0]), "expected as many gains as times"),  # type: ignore[arg-type]
    "no model": (lambda: geodesics(None, [[0.0], [1.0]]), "model=None, expected a model"),  # type: ignore[arg-type]
    "forces for free": (lambda: lqr(ONE, ONE, 1.0, 0.0), "R: got .*, expected a positive definite weight"),
    "weights of a larger one": (lambda: lqr(ONE, ONE, [1.0, 2.0], 1.0), r"Q has shape \(2,\), expected \(1,\) or \(1, 1\)"),
    "no system": (lambda: lqr(ONE, [1.0], 1.0, 1.0), r"A has shape \(1, 1\) and B \(1,\), expected \(n, n\) and \(n, m\)"),
    "a gain too many": (lambda: closed_loop(ONE, ONE, [[1.0, 2.0]]), r"K has shape \(1, 2\), expected \(1, 1\)"),
    "poles of text": (lambda: vibrations("x"), "poles: got 'x', expected a row"),
    "a limit of text": (lambda: trapezoidal([[0.0], [1.0]], velocity=1, acceleration="x"), "acceleration: got 'x'"),
}


@pytest.mark.parametrize("case", MOVES)
def test_trajectories(case: str) -> None:
    call, words = MOVES[case]
    with pytest.raises(ModelError, match=words):
        call()


def test_trajectories_take_lists() -> None:
    assert Trajectory([0, 1], [[[0, 1], [0, 2]]])(0.5).tolist() == [0.5, 1.0]  # type: ignore[arg-type]


def test_results(two_link: Model, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    found = two_link.simulate(ZERO, t=0.01, samples=3)
    for write in (found.save, found.plot, found.animate):
        with pytest.raises((ModelError, ElastogenError), match="path: got 3, expected"):
            write(3)  # type: ignore[operator]
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelError, match="cannot be written"):
        found.save(tmp_path / "file" / "a.csv")
    table = elastogen.Table([0.0], [[0.0, 0.0]], [])  # type: ignore[arg-type]
    with pytest.raises(ModelError, match=r"Table.interpolation=\[\], expected 'hold' or 'linear'"):
        two_link.simulate(ZERO, t=0.01, F=table)


def test_builds(robot: elastogen.Robot, tmp_path: Path) -> None:
    for flags in ("-DA\0B", ["\ud800"], [3]):
        with pytest.raises(OutputError, match="cflags: got"):
            elastogen.build_model(robot, cflags=flags)  # type: ignore[arg-type]
    with pytest.raises(OutputError, match=r"directory: got .*, expected a path"):
        elastogen.generate(robot, "\ud800")
    for outputs in (3, [None], b"x"):
        with pytest.raises(OutputError, match=r"outputs: got .*, expected names of functions"):
            elastogen.verify(robot, outputs=outputs)  # type: ignore[arg-type]
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    for unprintable in (deep, [10**5000]):
        with pytest.raises(OutputError, match=r"outputs: got a value of type \w+ that cannot be printed"):
            elastogen.verify(robot, outputs=unprintable)
        with pytest.raises(OutputError, match=r"outputs: got a value of type list that cannot be printed"):
            elastogen.build_model(robot, outputs=unprintable)
    with pytest.raises(OutputError, match="tell: got 3"):
        elastogen.verify(robot, tell=3)  # type: ignore[arg-type]
    with pytest.raises(OutputError, match=r"states: got 1000.*at most"):
        elastogen.verify(robot, states=HUGE)
    with pytest.raises(OutputError, match="build: got 3, expected a mapping"):
        elastogen.compare_with_rigid(robot, build=3)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match=r"client=3, expected a distributed.Client"):
        elastogen.run_study(elastogen.Recipe("two_link"), [{"q0": ZERO, "t": 0.01}], client=3)
