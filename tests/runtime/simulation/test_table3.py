"""The robots of paper 003, Table 3, in motion: independent equations, energy, methods, the stiff limit, the command."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import elastogen
from elastogen import BangBang, Comparison, Model
from elastogen.command_line import main

OUTPUTS = ("simulation", "forward_kinematics", "mass_matrix", "stiffness_matrix", "damping_matrix")
NAMES = ("par_table3", "rpb_table3")
NODES, WEIGHTS = np.polynomial.legendre.leggauss(5)
Array = np.ndarray


@pytest.fixture(scope="module")
def models() -> dict[str, Model]:
    return {name: elastogen.build_model(name, outputs=OUTPUTS) for name in NAMES}


@pytest.fixture(scope="module")
def comparisons() -> dict[str, Comparison]:
    """The robots' own experiments, beside the rigid robots."""
    return {name: elastogen.compare_with_rigid(name, build={"outputs": OUTPUTS}) for name in NAMES}


# ---- equations of motion from positions of points alone


def hermite(s: Array, h: Any) -> list[Array]:
    return [1 - 3 * s**2 + 2 * s**3, h * (s - 2 * s**2 + s**3), 3 * s**2 - 2 * s**3, h * (s**3 - s**2)]


def element_points(n: int) -> tuple[Array, Array, Array]:
    """Elements, places s on them and weights (as parts of the beam) of the Gauss points of n elements."""
    element = np.repeat(np.arange(n), len(NODES))
    return element, np.tile((NODES + 1) / 2, n), np.tile(WEIGHTS / 2, n) / n


def deflection(u: Array, element: Array, s: Array, h: Any) -> Array:
    nodal = np.concatenate([[0, 0], u])
    return sum(shape * nodal[2 * element + j] for j, shape in enumerate(hermite(s, h)))


def bending_energy(u: Array, EI: float, h: Any) -> Any:
    """Paper 003 (27), element by element."""
    a, b, c = 6 * h, 4 * h**2, 2 * h**2
    K = np.array([[12, a, -12, a], [a, b, -a, c], [-12, -a, 12, -a], [a, c, -a, b]]) * EI / h**3
    nodal = np.concatenate([[0, 0], u])
    return sum(nodal[2 * k : 2 * k + 4] @ K @ nodal[2 * k : 2 * k + 4] for k in range(len(u) // 2)) / 2


def par_points(at: Array) -> tuple[Array, Callable[[Array], Array], Callable[[Array], Any]]:
    """Masses, their positions and the strain energy of P_a R: the slide along x, link 1 across it, then the beam."""
    n, length = 3, 0.8
    element, s, weight = element_points(n)
    masses = np.concatenate([[1.4], 0.942 * length * weight, [0.1]])

    def positions(q: Array) -> Array:
        w = deflection(q[2:], element, s, length / n)
        x, y = np.append((element + s) * length / n, length), np.append(w, q[-2])
        angle = np.pi / 2 + q[1]
        beam = [q[0] + np.cos(angle) * x - np.sin(angle) * y, 0.2 + np.sin(angle) * x + np.cos(angle) * y]
        return np.concatenate([[q[0], 0.1 + 0 * q[0]], *beam])

    return masses, positions, lambda q: bending_energy(q[2:], 1.8, length / n)


def rpb_points(at: Array) -> tuple[Array, Callable[[Array], Array], Callable[[Array], Any]]:
    """The same of R P_b: link 1 turns, d of the beam is outside; material points keep their distance to the tip."""
    n, length = 5, 0.8
    d = at[1]
    element, s, weight = element_points(n)
    outside = (1 - (element + s) / n) * d  # distance of the points outside to the tip
    inside = d + (length - d) * (1 - NODES) / 2
    masses = np.concatenate([[3.9], 0.35 * d * weight, 0.35 * (length - d) * WEIGHTS / 2, [0.1]])

    def positions(q: Array) -> Array:
        place = n * (1 - outside / q[1])
        w = deflection(q[2:], element, place - element, q[1] / n)
        x = 0.2 + q[1] - np.concatenate([outside, inside, [0.0]])
        y = np.concatenate([w, 0 * inside, [q[-2]]])
        c, s_ = np.cos(q[0]), np.sin(q[0])
        return np.concatenate([[0.1 * c, 0.1 * s_], c * x - s_ * y, s_ * x + c * y])

    return masses, positions, lambda q: bending_energy(q[2:], 0.1688, q[1] / n)


def acceleration(points: Callable[[Array], Any], q: Array, qd: Array, F: Array) -> Array:
    """By d'Alembert: sum of m dr/dq . (F - acceleration); derivatives by complex steps, dJ/dt qd by differences."""
    masses, positions, energy = points(q)
    m = np.concatenate([[masses[0]] * 2, masses[1:], masses[1:]])

    def rate(at: Array, direction: Array) -> Array:
        return positions(at + 1e-30j * direction).imag / 1e-30

    J = np.column_stack([rate(q, unit) for unit in np.eye(len(q))])
    h = 2e-3
    ahead = [rate(q + k * h * qd, qd) for k in (-2, -1, 1, 2)]
    bias = (ahead[0] - 8 * ahead[1] + 8 * ahead[2] - ahead[3]) / (12 * h)
    strain = np.array([energy(q + 1e-30j * unit).imag / 1e-30 for unit in np.eye(len(q))])
    return np.linalg.solve(J.T @ (m[:, None] * J), F - J.T @ (m * bias) - strain)


@pytest.mark.parametrize(("name", "points", "q0", "amplitude", "duration"), [
    ("par_table3", par_points, {}, (3.0, 0.05), 0.06),
    ("rpb_table3", rpb_points, {1: 0.4}, (0.2, 0.5), 0.02),
])  # fmt: skip
def test_motion_is_that_of_independent_equations(models, name, points, q0, amplitude, duration):
    model = models[name]
    force, start = np.zeros(model.nq), np.zeros(2 * model.nq)
    force[:2] = amplitude
    for k, value in q0.items():
        start[k] = value
    t = np.linspace(0, 1.2 * duration, 13)  # switches at 5 / 12 and 10 / 12
    state, expected = start, [start]
    for piece, sign in ((t[:6], 1.0), (t[5:11], -1.0), (t[10:], 0.0)):
        solution = solve_ivp(
            lambda _, y, F: np.concatenate([y[model.nq :], acceleration(points, y[: model.nq], y[model.nq :], F)]),
            (piece[0], piece[-1]), state, "DOP853", t_eval=piece, rtol=1e-9, atol=1e-12, args=(sign * force,),
        )  # fmt: skip
        expected += list(solution.y.T[1:])
        state = solution.y[:, -1]
    s = model.simulate(start[: model.nq], t=t, F=BangBang(force, duration), rtol=1e-10, atol=1e-13)
    scale = np.abs(np.array(expected)).max(axis=0)
    assert (scale > 0).all()
    assert (np.abs(np.hstack([s.q, s.qd]) - np.array(expected)) < 1e-7 * scale).all()


# ---- the experiments


@pytest.mark.parametrize("name", NAMES)
def test_energy_is_balanced(comparisons, name):
    for s in (comparisons[name].flexible, comparisons[name].rigid):
        assert s.ok
        assert s.t[-1] == {"par_table3": 10.0, "rpb_table3": 20.0}[name]  # Table 3
        assert np.abs(s.balance).max() < 1e-7 * s.kinetic.max()
        assert not s.dissipated.any()


@pytest.mark.parametrize("name", NAMES)
def test_methods_agree(models, name):
    own = {**elastogen.experiment_arguments(name), "t": np.linspace(0, 0.6, 61)}
    reference = models[name].simulate(**{**own, "rtol": 1e-10, "atol": 1e-12})
    scale = np.abs(reference.q - reference.q[0]).max(axis=0)
    for method, tolerance in (("rk4", 1e-7), ("generalized_alpha", 1e-3)):
        s = models[name].simulate(**{**own, "method": method, "step": 2e-5})
        assert (np.abs(s.q - reference.q) < tolerance * scale).all(), method


@pytest.mark.parametrize("name", NAMES)
def test_the_rigid_robot_is_nearly_at_rest_after_the_input(comparisons, name):
    rigid, end = comparisons[name].rigid, comparisons[name].forces_end
    speed = np.abs(rigid.qd)
    assert end == {"par_table3": 0.5, "rpb_table3": 1.0}[name]
    assert (speed[rigid.t >= end][0] < 0.05 * speed.max(axis=0)).all()
    assert (np.abs(rigid.q[-1] - rigid.q[0]) > 0.05).all()


@pytest.mark.parametrize(("name", "deflection", "frequency"), [("par_table3", 0.025, 29.3), ("rpb_table3", 0.015, None)])
def test_the_flexible_robot_vibrates_about_the_rigid_one(comparisons, models, name, deflection, frequency):
    c = comparisons[name]
    (tip,) = c.deflections
    np.testing.assert_allclose(tip.displacement[:, 1], c.flexible.q[:, -2], rtol=1e-12)  # the last node
    np.testing.assert_allclose(tip.rotation[:, 2], c.flexible.q[:, -1], rtol=1e-12)
    assert np.abs(tip.displacement).max() == pytest.approx(deflection, rel=0.1)
    (left,) = c.residuals()
    assert 0.002 < left.amplitude < deflection
    if frequency is not None:
        rigid, first = np.split(models[name].modes(np.zeros(8)).frequencies[:3], [2])  # joints free
        np.testing.assert_array_equal(rigid, 0.0)
        assert 2 * np.pi * left.frequency == pytest.approx(first, rel=0.02)
        assert first == pytest.approx(frequency, rel=0.01)


@pytest.mark.parametrize("joint", ["R", "Pb"])
def test_a_stiff_link_moves_like_the_rigid_one(joint):
    """The joints' motion differs from the rigid robot's by less and less, as 1 / EI."""
    first = {"joint": "Pa" if joint == "R" else "R", "length": 0.2, "rigid": True, "mass": 1.4}
    second = {"joint": joint, "length": 0.8, "mass_per_length": 0.942, "EI": "EI", "elements": 2}
    (first if joint == "R" else second)["gamma"] = np.pi / 2 if joint == "R" else 0
    robot = elastogen.load({
        "elastogen": 1, "name": "stiffening", "parameters": {"EI": {"value": 1.8}}, "live": ["EI"],
        "planar": {"links": [first, second], "payload": {"mass": 0.1}},
        "simulation": {"seconds": 0.4, "q0": {} if joint == "R" else {"joint2": 0.4}, "method": "generalized_alpha",
                       "step": 2e-4, "input": {"bang_bang": {"amplitude": {"joint1": 1, "joint2": 0.1}, "duration": 0.3}}},
    })  # fmt: skip
    errors = []
    for factor in (1e1, 1e2, 1e3, 1e4):
        c = elastogen.compare_with_rigid(robot, build={"outputs": OUTPUTS}, parameters={"EI": 1.8 * factor}, rho_inf=0.5)
        joints = c.flexible.q[:, [k for k, _ in c.joints]]
        errors.append(np.abs(joints - c.rigid.q).max() / np.ptp(c.rigid.q, axis=0).max())
    assert errors[-1] < 1e-4
    assert all(3 < a / b < 40 for a, b in pairwise(errors)), errors


# ---- the command


def test_the_command_simulates_and_draws(
    models: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    assert main(["simulate", "par_table3", "--outputs", ",".join(OUTPUTS), "--csv", "motion.csv"]) == 0
    printed = capsys.readouterr().out
    for words in (
        "they are chosen here", "par_table3_rigid, tsit5: reached the end", "energy balance",
        "largest tip deflection 25.1 mm in y",
        "residual vibration in y after t = 0.5 s", "4.63 Hz", "end-effector: up to 4.78 mm", "wrote par_table3.png",
    ):  # fmt: skip
        assert words in printed
    assert {path.name for path in tmp_path.iterdir()} == {"par_table3.png", "motion.csv", "motion_rigid.csv"}
    assert (tmp_path / "par_table3.png").stat().st_size > 20_000
    rows = np.genfromtxt("motion_rigid.csv", delimiter=",", names=True)
    assert rows["F_joint1_N"][0] == 3.0
    assert rows["t_s"][-1] == 10.0


def test_options_override_the_experiment(
    models: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    options = ["--outputs", ",".join(OUTPUTS), "--no-plot", "--samples", "11", "--seconds", "0.1"]
    options += ["--method", "rk4", "--step", "1e-4"]
    assert main(["simulate", "rpb_table3", *options, "--q0", "0.1,0.5", "--input", "constant:0,0.2", "--csv", "s.npz"]) == 0
    assert "rpb_table3_rigid, rk4" in capsys.readouterr().out
    for name, size in (("s.npz", 12), ("s_rigid.npz", 2)):
        with np.load(name) as s:
            assert s["q"].shape == (11, size)
            assert s["q"][0, :2].tolist() == [0.1, 0.5]
            assert s["F"][-1, :2].tolist() == [0.0, 0.2]
            assert s["t"][-1] == 0.1
    assert main(["simulate", "rpb_table3", *options, "--no-beside-rigid"]) == 0
    assert "rigid" not in capsys.readouterr().out.split("they are chosen here")[1]


def test_a_failing_motion_is_reported(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    options = ["--outputs", ",".join(OUTPUTS), "--input", "constant:0,5", "--plot", str(tmp_path / "s.png")]
    assert main(["simulate", "rpb_table3", *options]) == 2
    output = capsys.readouterr()
    assert "a sliding joint left its beam" in output.err
    assert (tmp_path / "s.png").is_file()
