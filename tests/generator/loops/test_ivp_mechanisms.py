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
