"""Mechanisms of the IVP test set, with the digits that are published for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import elastogen

REFERENCE = Path(__file__).resolve().parents[4] / "shared" / "reference" / "loops.json"


@pytest.fixture(scope="module")
def reference() -> Any:
    if not REFERENCE.exists():
        pytest.skip(f"{REFERENCE} is not there")
    return json.loads(REFERENCE.read_text(encoding="utf-8"))


def andrews(parameters: Any) -> dict[str, Any]:
    """The squeezer mechanism: seven bodies, whose four ends meet in one point."""
    P, points, lengths = parameters, parameters["fixed_points"], parameters["lengths"]
    L: dict[str, float] = lengths
    bodies = {  # carried by, at, centre of mass
        "beta": ("ground", points["O"], (L["ra"], 0)),
        "theta": ("k_beta", (L["rr"], 0), (-L["da"], 0)),
        "gamma": ("ground", points["B"], (L["sa"], -L["sb"])),
        "delta": ("ground", points["A"], (L["ta"], L["tb"])),
        "phi": ("k_delta", (L["zt"], 0), (0, -(L["e"] - L["ea"]))),
        "epsilon": ("ground", points["A"], (L["ua"], L["ub"])),
        "omega": ("k_epsilon", (0, -L["u"]), (L["zf"] - L["fa"], 0)),
    }
    number = {"beta": 0, "theta": 1, "gamma": 2, "phi": 3, "delta": 4, "omega": 5, "epsilon": 6}
    ends = {"theta": (-L["d"], 0), "gamma": (0, -L["ss"]), "phi": (0, -L["e"]), "omega": (L["zf"], 0)}
    links, joints = [{"name": "ground"}], []
    for name, (parent, at, com) in bodies.items():
        about = P["inertias_about_centre"][number[name]]
        links.append({"name": f"k_{name}", "mass": P["masses"][number[name]], "com": [*com, 0], "inertia": [about] * 3})
        joint = {"name": name, "type": "revolute", "parent": parent, "child": f"k_{name}", "driven": name == "beta"}
        joints.append({**joint, "placement": {"xyz": [*at, 0]}})

    def end(name: str) -> dict[str, Any]:
        return {"link": f"k_{name}", "xyz": [*ends[name], 0]}

    spring, (xb, yb), (xc, yc) = P["spring"], points["B"], points["C"]
    x = f"({xb} + {L['sd']}*cos(q('gamma')) + {L['sc']}*sin(q('gamma')) - ({xc}))"
    y = f"({yb} + {L['sd']}*sin(q('gamma')) - {L['sc']}*cos(q('gamma')) - ({yc}))"
    stretch = f"(sqrt({x}**2 + {y}**2) - {spring['rest_length']})"
    return {
        "elastogen": 1, "name": "squeezer", "gravity": [0, 0, 0], "links": links, "joints": joints,
        "loops": [{"name": n, "type": "spherical", "a": end("theta"), "b": end(n)} for n in ("gamma", "phi", "omega")],
        "terms": [{"name": "spring", "potential": f"{spring['stiffness'] / 2}*{stretch}**2"}],
    }  # fmt: skip


@pytest.mark.filterwarnings("ignore::elastogen.RobotWarning")
def test_andrews_squeezer(reference: Any) -> None:
    known = reference["andrews"]
    outputs = ["forward_dynamics", "loop_residual", "loop_jacobian"]
    model = elastogen.build_model(andrews(known["parameters"]), outputs=outputs, cflags="-O1")
    assert model.loops is not None
    assert model.loops.rank == 6
    names = model.coordinate_names
    q0 = np.array([known["parameters"]["q0"][name] for name in names])
    F = np.array([known["parameters"]["drive_moment"] if name == "beta" else 0.0 for name in names])
    assert np.abs(model.loop_residual(q0)).max() < 1e-13
    first = dict(zip(names, model.forward_dynamics(q0, 0 * q0, F), strict=True))
    for name, value in known["initial_accelerations"].items():
        assert first[name] == pytest.approx(value, rel=1e-9)
    run = model.simulate(q0, t=[0.0, known["t"]], F=F, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(run.q[-1], [known["q"][name] for name in names], rtol=0, atol=1e-8)
    rates = np.array([known["qd"][name] for name in names])
    np.testing.assert_allclose(run.qd[-1], rates, rtol=0, atol=1e-9 * np.abs(rates).max())
    assert np.abs(model.loop_residual(run.q[-1])).max() < 1e-13


def crank(P: Any) -> dict[str, Any]:
    """Slider-crank whose rod has two lateral modes, sines, and two longitudinal ones, quadratic in x; given by integrals.

    The program of the test set has longitudinal masses 8, 1, 2 where the integrals of the shapes are 8, 1, 2 of 15: so here.
    """
    m, length, (b, h), pi = P["M2"], P["L2"], P["section"], np.pi
    wave = [1, 2]

    def mode(name: str, direction: int, integral: float, moment: float, tip: list[float], turn: float) -> dict[str, Any]:
        vector, position = [0.0] * 3, np.zeros((3, 3))
        vector[direction], position[direction, 0] = m * integral, m * length * moment
        rotation = [0, 0, turn]
        return {
            "name": name, "integral": vector, "position_integral": position.tolist(), "tip_displacement": tip,
            "tip_rotation": rotation,
        }  # fmt: skip

    lateral = [
        mode(f"w{j}", 1, (1 - (-1) ** j) / (j * pi), -((-1) ** j) / (j * pi), [0, 0, 0], j * pi / length * (-1) ** j)
        for j in wave
    ]
    along = [mode("u1", 0, 2 / 3, 1 / 3, [0, 0, 0], 0), mode("u2", 0, 1 / 6, 1 / 6, [1, 0, 0], 0)]
    products = []

    def product(j: int, k: int, row: int, column: int, value: float) -> None:
        integral = np.zeros((3, 3))
        integral[row, column] = m * value
        products.append({"fields": [j, k], "integral": integral.tolist()})

    shapes = [lambda s: 4 * s * (1 - s), lambda s: 2 * s * s - s]
    places, weights = np.polynomial.legendre.leggauss(40)
    places, weights = (places + 1) / 2, weights / 2
    for j in wave:
        product(j, j, 1, 1, 0.5)
        for k, shape in enumerate(shapes):
            product(j, 3 + k, 1, 0, float(weights @ (np.sin(j * pi * places) * shape(places))))
    product(3, 3, 0, 0, 8)
    product(3, 4, 0, 0, 1)
    product(4, 4, 0, 0, 2)
    axial, bending = P["E"] * b * h / length, P["E"] * b * h**3 / 12 * pi**4 / (2 * length**3)
    K = np.zeros((4, 4))
    K[0, 0], K[1, 1] = bending, 16 * bending
    K[2:, 2:] = axial / 3 * np.array([[16, -8], [-8, 7]])
    rod = {
        "type": "standard_data", "mass": m, "first_moments": [m * length / 2, 0, 0],
        "second_moments": [[m * length**2 / 3, 0, 0], [0, m * h**2 / 12, 0], [0, 0, 0]],
        "modes": [*lateral, *along], "products": products, "stiffness": K.tolist(), "tip_frame": {"xyz": [length, 0, 0]},
    }  # fmt: skip
    return {
        "elastogen": 1, "name": "slider", "gravity": [0, 0, 0],
        "links": [
            {"name": "ground"},
            {"name": "crank", "mass": P["M1"], "inertia": [P["J1"]] * 3},
            {"name": "rod", "flexible": rod},
            {"name": "piston", "mass": P["M3"]},
        ],
        "joints": [
            {"name": "phi1", "type": "revolute", "parent": "ground", "child": "crank"},
            {"name": "phi2", "type": "revolute", "parent": "crank", "child": "rod", "placement": {"xyz": [P["L1"], 0, 0]},
             "driven": False},
            {"name": "x3", "type": "prismatic", "axis": [1, 0, 0], "parent": "ground", "child": "piston", "driven": False},
        ],
        "loops": [{"name": "pin", "type": "spherical", "a": {"link": "rod"}, "b": {"link": "piston"}}],
    }  # fmt: skip


START = {  # of the test set's program (crank.f, INIT): phi1, phi2, x3, q1 to q4, nearly without vibrations
    "q": [0.0, 0.0, 0.450016933, 0.0, 0.0, 0.103339863e-4, 0.169327969e-4],
    "qd": [150.0, -74.9957670, -0.268938672e-5, 0.444896105, 0.463434311e-2, -0.178591076e-5, -0.268938672e-5],
}


FIRST = {"phi2": -1.344541576008661e-03, "u1": -4.268463211410861, "u2": 2.098334687947376e-01, "x3": -5.062194923138079e03}
FIRST_FORCE = 3.824589508329281e02  # multiplier of the pin along the slide; both are of the same program


@pytest.mark.filterwarnings("ignore::elastogen.RobotWarning")
def test_slider_crank_with_flexible_rod(reference: Any) -> None:
    """The crank turns at a constant rate: its moment is that which keeps it so."""
    known = reference["crank"]
    outputs = ["forward_dynamics", "loop_residual", "loop_jacobian", "loop_forces"]
    model = elastogen.build_model(crank(known["parameters"]), outputs=outputs, cflags="-O1")
    assert model.coordinate_names == ("phi1", "phi2", "rod.w1", "rod.w2", "rod.u1", "rod.u2", "x3")
    (phi1, phi2, x3, *q), (v1, v2, v3, *qd) = START["q"], START["qd"]
    state = np.array([phi1, phi2 - phi1, *q, x3]), np.array([v1, v2 - v1, *qd, v3])
    unit = np.eye(7)[0]

    def moment(t: float, q: Any, qd: Any) -> Any:
        free, pushed = model.forward_dynamics(q, qd, 0 * unit)[0], model.forward_dynamics(q, qd, unit)[0]
        return -free / (pushed - free) * unit

    held = moment(0.0, *state)
    first = model.forward_dynamics(*state, held)
    found_first = {"phi2": first[0] + first[1], "u1": first[4], "u2": first[5], "x3": first[6]}
    assert found_first == {name: pytest.approx(value, rel=1e-9) for name, value in FIRST.items()}
    assert -model.loop_forces(*state, held)[0, 0] == pytest.approx(FIRST_FORCE, rel=1e-9)
    q0 = model.close_loops(state[0], held=["phi1", *model.coordinate_names[2:6]])
    J = model.loop_jacobian(q0)
    dependent = [1, 6]
    qd0 = state[1].copy()
    others = [k for k in range(7) if k not in dependent]
    qd0[dependent] = -np.linalg.lstsq(J[:, dependent], J[:, others] @ qd0[others], rcond=None)[0]
    run = model.simulate(q0, qd0, t=[0.0, known["t"]], F=moment, rtol=1e-9, atol=1e-13)
    found, rates, result = run.q[-1], run.qd[-1], known["result"]
    published = [result["phi1"], result["phi2"], *result["q"], result["x3"]]
    np.testing.assert_allclose([found[0], found[0] + found[1], *found[2:]], published, rtol=0, atol=1e-8)
    assert rates[0] + rates[1] == pytest.approx(result["vphi2"], abs=1e-9 * 150)
    assert rates[6] == pytest.approx(result["vx3"], abs=1e-9 * 150)
