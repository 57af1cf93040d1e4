"""The manifest beside the C, read as data: who knows nothing else calls the compiled functions and finds them right."""

from __future__ import annotations

import ctypes
import json
import math
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import elastogen

OUTPUTS = ["mass_matrix", "friction_forces", "forward_dynamics", "forward_dynamics_sensitivity", "forward_dynamics_hessian"]


def manifest_of(folder: Path, robot: str) -> dict[str, Any]:
    return json.loads((folder / f"{robot}_functions.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def puma(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("puma")
    elastogen.generate("puma560", folder, outputs=OUTPUTS)
    command = ["cc", "-std=c99", "-O0", "-shared", "-fPIC", "puma560.c", "-lm", "-o", "puma.so"]
    subprocess.run(command, cwd=folder, check=True)
    return folder


def called(library: Any, entry: dict[str, Any], live: np.ndarray, inputs: list[np.ndarray]) -> list[np.ndarray]:
    """A call as the manifest tells it: parameters, inputs, outputs, a status where it has one."""
    outputs = [np.zeros(math.prod(argument["shape"])) for argument in entry["outputs"]]
    status = library[entry["symbol"]](*(ctypes.c_void_p(array.ctypes.data) for array in (live, *inputs, *outputs)))
    assert not (entry["status"] and status)
    return [out.reshape(argument["shape"]) for out, argument in zip(outputs, entry["outputs"], strict=True)]


def test_functions_are_called_by_the_manifest_alone(puma: Path) -> None:
    manifest, library = manifest_of(puma, "puma560"), ctypes.CDLL(str(puma / "puma.so"))
    model = elastogen.build_model("puma560", outputs=OUTPUTS)
    live = np.array([each["value"] for each in manifest["parameters"]] or [0.0])
    assert {each["name"] for each in manifest["functions"]} == set(OUTPUTS)
    assert manifest["coordinates"] == list(model.coordinate_names)
    random = np.random.default_rng(5)
    for entry in manifest["functions"]:
        inputs = [random.uniform(-1, 1, argument["shape"]) for argument in entry["inputs"]]
        expected = (
            getattr(model, entry["name"])(*inputs)
            if hasattr(model, entry["name"])
            else model.evaluate(entry["name"], **{a["name"]: x for a, x in zip(entry["inputs"], inputs, strict=True)})
        )
        (found,) = called(library, entry, live, inputs)
        assert np.abs(found - expected).max() <= 1e-12 * np.abs(expected).max(), entry["name"]


def test_zeros_dependence_and_derivatives_are_those_of_differences(puma: Path) -> None:
    """Places that the manifest leaves out are zero in every state; inputs that it leaves out change nothing."""
    manifest, library = manifest_of(puma, "puma560"), ctypes.CDLL(str(puma / "puma.so"))
    random = np.random.default_rng(6)
    small = {each["name"]: 0.01 if each["name"][-2:] in ("xy", "xz", "yz") else 1.0 for each in manifest["parameters"]}
    live = np.array([e["value"] + small[e["name"]] * random.uniform(0.005, 0.01) for e in manifest["parameters"]])
    for entry in manifest["functions"]:
        seen = np.zeros(math.prod(entry["outputs"][0]["shape"]), dtype=bool)
        for _ in range(3):
            inputs = [random.uniform(-1, 1, argument["shape"]) for argument in entry["inputs"]]
            (first,) = called(library, entry, live, inputs)
            seen |= np.ravel(first) != 0
            for k, argument in enumerate(entry["inputs"]):
                changed = [random.uniform(-1, 1, a["shape"]) if j == k else inputs[j] for j, a in enumerate(entry["inputs"])]
                (second,) = called(library, entry, live, changed)
                assert (argument["name"] in entry["depends_on"]) == (not np.array_equal(first, second)), entry["name"]
        nonzeros = entry["outputs"][0]["nonzeros"]
        assert np.array_equal(np.flatnonzero(seen), range(seen.size) if nonzeros is None else nonzeros), entry["name"]
    by_name = {entry["name"]: entry for entry in manifest["functions"]}
    assert by_name["forward_dynamics"]["derivatives"] == ["forward_dynamics_sensitivity", "forward_dynamics_hessian"]
    assert by_name["mass_matrix"]["derivatives"] == []
    assert by_name["friction_forces"]["depends_on"] == []  # this robot has none


def test_every_export_has_it(tmp_path: Path) -> None:
    for kind in ("c", "cmake", "opencl"):
        elastogen.export("rpb_table3", tmp_path / kind, format=kind, outputs="inverse_dynamics", precision="float")
        manifest = manifest_of(tmp_path / kind, "rpb_table3")
        assert (manifest["robot"], manifest["precision"]) == ("rpb_table3", "float")
        (entry,) = manifest["functions"]
        assert entry["status"]  # the beam may leave its joint
        assert entry["depends_on"][:3] == ["q", "qd", "qdd"]
