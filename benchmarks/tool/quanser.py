"""Two flexible links, measured: EI, damping and masses of the coupled flexible model, beside the maker's decoupled one.

Run: python -m benchmarks.tool.quanser FOLDER

FOLDER has run_10deg.npz, step_10deg.npz and constants.json of the Quanser 2-DOF serial flexible link (github.com/basta/quanser-
2-dof-serial-flexible-link): currents, encoders, and angles of deflection from strain gauges at 500 Hz. The maker's model has
one equation for each link, J (a'' + b'') + B b' + K b = 0 with a the joint's angle and b the deflection; what is left of it is
given relative to K b. Ours is one flexible link after the other, each with its static shape, identified by output error: gauges
are predicted by simulation along the joints' motion, and their amplifiers lag.

It is judged on what it was not fitted to: each half of the run by the other, and the step by the whole run. The lags of the
gauges are those of the fitted file. Of the step only the first link was recorded; the second is taken to be straight.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy.signal import butter, sosfiltfilt

import elastogen

CUTOFF = 8.0  # [Hz] above both first modes; currents have a tone of 20 Hz that no link moves with
NUMBERS = (
    "EI", "links.*.flexible.damping.matrix.0.0", "links.second.mass", "links.second.inertia.2", "payload.mass",
    "joints.*.motor.inertia", "joints.*.friction.viscous", "joints.*.friction.coulomb", "joints.*.friction.offset",
    "sensor_lag", "sensor_offset",
)  # fmt: skip


def robot(constants: dict[str, float]) -> dict[str, Any]:
    """The arm; steel blades, 76 mm and 38 mm high, as thick as the maker says; EI = K L / 3 of a load at the end."""

    def link(k: int, height: float) -> dict[str, Any]:
        L, thickness = constants[f"L{k}"], constants[f"T{k}"]
        shape = {"direction": "y", "shape": "(3*(x/L)**2 - (x/L)**3)/2"}
        return {
            "type": "modes", "length": L, "mass_per_length": 7850.0 * height * thickness, "EI": constants[f"Ks{k}"] * L / 3,
            "damping": {"matrix": [[0.5]]}, "modes": [shape],
        }  # fmt: skip

    def joint(name: str, k: int, child: str) -> dict[str, Any]:
        friction = {"viscous": constants[f"B{k}1"], "coulomb": 0.1, "coulomb_velocity": 0.02}
        motor = {"inertia": constants[f"J{k}1"]}
        return {"name": name, "type": "revolute", "child": child, "axis": [0, 0, 1], "motor": motor, "friction": friction}

    # a gauge at the clamp reads the angle of deflection w(L) / L = L w''(0) / 3
    gauges = [
        {"name": f"gauge{k}", "link": name, "x": 0.0, "strain": {"direction": "y", "offset": -constants[f"L{k}"] / 3}}
        for k, name in ((1, "first"), (2, "second"))
    ]
    return {
        "elastogen": 1, "name": "quanser", "gravity": [0, 0, 0],
        "links": [
            {"name": "base"},
            {"name": "first", "mass": 1.0, "inertia": [0.01, 0.01, 0.01], "flexible": link(1, 0.0762)},
            {"name": "second", "mass": 3.5, "inertia": [0.006, 0.006, 0.006], "flexible": link(2, 0.0381)},
        ],
        "joints": [joint("shoulder", 1, "first"), joint("elbow", 2, "second")],
        "payload": {"mass": 0.13, "inertia": [1e-4, 1e-4, 1e-4]},
        "points": gauges,
    }  # fmt: skip


def measured(folder: Path, constants: dict[str, float]) -> dict[str, np.ndarray[Any, Any]]:
    """The run: radians, and torques of the drives by the maker's constants."""
    with np.load(folder / "run_10deg.npz") as data:
        angle = {key: np.radians(data[f"data_{key}"][:, 2]) for key in ("th11", "th12", "th21", "th22")}
        return {
            "time": data["data_th11"][:, 0], "q.shoulder": angle["th11"], "q.elbow": angle["th21"],
            "F.shoulder": constants["Ktg1"] * data["data_Im1"][:, 2], "F.elbow": constants["Ktg2"] * data["data_Im2"][:, 2],
            "point.gauge1": angle["th12"], "point.gauge2": angle["th22"],
        }  # fmt: skip


def stepped(folder: Path) -> dict[str, np.ndarray[Any, Any]]:
    """The step of the shoulder: its angle and the gauge of the first link; the file has zeros for the elbow."""
    with np.load(folder / "step_10deg.npz") as data:
        angle = np.asarray(data["theta11"], float)
        return {
            "time": data["time"], "q.shoulder": angle, "q.elbow": np.zeros_like(angle), "point.gauge1": data["theta12"],
        }  # fmt: skip


def halves(run: dict[str, np.ndarray[Any, Any]]) -> tuple[dict[str, np.ndarray[Any, Any]], dict[str, np.ndarray[Any, Any]]]:
    """The first and the other half of a run."""
    middle = len(run["time"]) // 2
    return {key: x[:middle] for key, x in run.items()}, {key: x[middle:] for key, x in run.items()}


def identified(run: dict[str, np.ndarray[Any, Any]], constants: dict[str, float]) -> Any:
    """The arm as one run shows it."""
    return elastogen.identify(robot(constants), run, parameters=NUMBERS, cutoff=CUTOFF)


def _gauged(run: dict[str, np.ndarray[Any, Any]]) -> list[tuple[int, str]]:
    """The links whose gauge was recorded, and their joints."""
    return [(k, joint) for k, joint in ((1, "shoulder"), (2, "elbow")) if f"point.gauge{k}" in run]


def _rates(x: np.ndarray[Any, Any], step: float) -> tuple[np.ndarray[Any, Any], ...]:
    low = sosfiltfilt(butter(4, CUTOFF, fs=1 / step, output="sos"), x)
    first = np.gradient(low, step)
    return low, first, np.gradient(first, step)


def decoupled(run: dict[str, np.ndarray[Any, Any]], constants: dict[str, float]) -> list[float]:
    """What is left of the maker's link equations, relative to K b."""
    step, found = float(np.median(np.diff(run["time"]))), []
    for k, joint in _gauged(run):
        a, b = _rates(run[f"q.{joint}"], step), _rates(run[f"point.gauge{k}"], step)
        J, B, K = (constants[f"{key}{k}{end}"] for key, end in (("J", "2"), ("B", "2"), ("Ks", "")))
        left = J * (a[2] + b[2]) + B * b[1] + K * b[0]
        found.append(float(np.linalg.norm(left[200:-200]) / np.linalg.norm(K * b[0][200:-200])))
    return found


def coupled(run: dict[str, np.ndarray[Any, Any]], found: Any, constants: dict[str, float]) -> list[float]:
    """What is left of the identified model's rows of the links at the measured state, relative to K q; lags are undone."""
    step = float(np.median(np.diff(run["time"])))
    q, qd, qdd = (np.zeros((len(run["time"]), 4)) for _ in range(3))
    for k, joint in ((0, "shoulder"), (1, "elbow")):
        q[:, 2 * k], qd[:, 2 * k], qdd[:, 2 * k] = _rates(run[f"q.{joint}"], step)
    for k, _ in _gauged(run):
        name = f"point.gauge{k}"
        b = _rates(run[name] - found.sensors["sensor_offset"][name], step)
        lag = found.sensors["sensor_lag"][name]
        states = _rates(b[0] + lag * b[1] + lag**2 / 4 * b[2], step)
        for target, state in zip((q, qd, qdd), states, strict=True):
            target[:, 2 * k - 1] = constants[f"L{k}"] * state
    model = elastogen.build_model(found.robot, outputs=["inverse_dynamics", "elastic_forces"])
    F, K = model.inverse_dynamics(q, qd, qdd)[200:-200], model.elastic_forces(q)[200:-200]
    return [float(np.linalg.norm(F[:, i]) / np.linalg.norm(K[:, i])) for i in (2 * k - 1 for k, _ in _gauged(run))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    constants = json.loads((folder / "constants.json").read_text())
    run, start = measured(folder, constants), time.process_time()
    whole = identified(run, constants)
    print(whole.table())
    print(f"{time.process_time() - start:.1f} s of CPU, the model's build included")
    first, other = halves(run)
    print("left of the link equations: maker's decoupled model; coupled flexible model, which was fitted elsewhere")
    for title, fitted, judged in (
        ("second half, fitted to the first", identified(first, constants), other),
        ("first half, fitted to the second", identified(other, constants), first),
        ("step, fitted to the run (link 1)", whole, stepped(folder)),
        ("the fitted run itself", whole, run),
    ):
        parts = (decoupled(judged, constants), coupled(judged, fitted, constants))
        shown = "; ".join(", ".join(f"{100 * value:.0f} %" for value in values) for values in parts)
        print(f"  {title:34s} {shown}")


if __name__ == "__main__":
    main()
