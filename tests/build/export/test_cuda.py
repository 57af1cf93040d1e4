"""Batch kernels for CUDA: compiled by nvcc where it is there, and run as C++ of this processor.

That takes a stand-in of CUDA's runtime; no GPU runs them here.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from c_compilers import WARNINGS
from devices.hosts import OUTPUTS, as_tuple, batch_of, host_of

import elastogen

STAND_IN = Path(__file__).resolve().parents[2] / "helpers" / "devices" / "cuda_stand_in"
COMPILE = ["c++", "-x", "c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-O1", "-ffp-contract=off", f"-I{STAND_IN}"]


def compiled(folder: Path, name: str) -> Path:
    """The kernels as a library of this processor."""
    library = folder / f"lib{name}_cuda.so"
    command = [*COMPILE, "-shared", "-fPIC", f"{name}_cuda.cu", "-o", library.name]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return library


@pytest.mark.parametrize(
    ("robot", "precision"),
    [("two_link", "double"), ("two_link", "float"), ("puma560", "double"), ("rpb_table3", "double"), ("satellite", "double")],
)
def test_kernels_equal_the_compiled_model(tmp_path: Path, robot: str, precision: str) -> None:
    """The same C: equal to 1e-12 of the largest number (float: 1e-5), rigid, sliding and floating."""
    outputs = OUTPUTS if robot in ("two_link", "puma560") else OUTPUTS[:3]
    elastogen.export(robot, tmp_path, format="cuda", outputs=outputs, precision=precision)
    compiled(tmp_path, robot)
    host = host_of(tmp_path, f"{robot}_cuda")
    kernels, model = host.Kernels(), elastogen.build_model(robot, outputs=outputs, precision=precision)
    for name in outputs:
        states = batch_of(host, robot, name, 300)  # more than two blocks
        expected = as_tuple(getattr(model, name)(*states.values()))
        for ours, theirs in zip(as_tuple(kernels(name, *states.values())), expected, strict=True):
            assert ours.shape == theirs.shape
            assert np.abs(ours - theirs).max() <= (1e-12 if precision == "double" else 1e-5) * np.abs(theirs).max(), name


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed: the CUDA toolkit brings it")
@pytest.mark.parametrize(("robot", "precision"), [("two_link", "float"), ("rpb_table3", "double")])
def test_nvcc_takes_the_kernels(tmp_path: Path, robot: str, precision: str) -> None:
    elastogen.export(robot, tmp_path, format="cuda", outputs=OUTPUTS[:2], precision=precision)
    command = ["nvcc", "-O2", "--fmad=false", "-Werror", "all-warnings", "-c", f"{robot}_cuda.cu", "-o", "kernels.o"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    done = subprocess.run(
        ["nvcc", "--fmad=false", "-ptx", f"{robot}_cuda.cu", "-o", "k.ptx"], cwd=tmp_path, capture_output=True
    )
    assert done.returncode == 0
    code = (tmp_path / "k.ptx").read_text()
    assert code.count(".visible .entry") + code.count(".entry") >= 2
    kind = "f64" if precision == "double" else "f32"
    assert f"mul.rn.{kind}" in code or f"mul.{kind}" in code
    assert f"fma.rn.{kind}" not in code or robot == "two_link"  # divisions of float are made of them


def test_live_parameters_and_wrong_calls(tmp_path: Path) -> None:
    elastogen.export("two_link", tmp_path, format="cuda", outputs=OUTPUTS[:2])
    host = host_of(tmp_path, "two_link_cuda")
    with pytest.raises(FileNotFoundError, match=r"libtwo_link_cuda\.so is not there: nvcc -O2 --fmad=false"):
        host.Kernels()
    compiled(tmp_path, "two_link")
    kernels, model = host.Kernels(), elastogen.build_model("two_link", outputs=OUTPUTS[:2])
    model.parameters["payload_mass"] = 1.5
    q, qd, qdd = np.random.default_rng(1).uniform(-1, 1, (3, 10, 2))
    expected = model.inverse_dynamics(q, qd, qdd)
    assert np.allclose(kernels("inverse_dynamics", q, qd, qdd, payload_mass=1.5), expected, rtol=1e-12, atol=1e-14)
    with pytest.raises(KeyError, match="got the function 'inverse_dynamic', expected one of inverse_dynamics"):
        kernels("inverse_dynamic", q, qd, qdd)
    with pytest.raises(TypeError, match="expected q, qd, qdd"):
        kernels("inverse_dynamics", q, qd)
    with pytest.raises(TypeError, match="got the parameter payload_mas,"):
        kernels("inverse_dynamics", q, qd, qdd, payload_mas=1.5)
    with pytest.raises(ValueError, match="qd has the shape"):
        kernels("inverse_dynamics", q, qd[:5], qdd)
    with pytest.raises(ArithmeticError, match="no result for 10 of 10 states"):
        kernels("forward_dynamics", q, qd, qdd, payload_mass=-100.0)


def test_example_in_c(tmp_path: Path) -> None:
    """With the strict flags; linked with the kernels, it prints what the model has."""
    elastogen.export("two_link", tmp_path, format="cuda", outputs=OUTPUTS)
    library = compiled(tmp_path, "two_link")
    command = [
        "cc",
        *WARNINGS,
        "-I.",
        "two_link.c",
        "examples/example.c",
        str(library),
        f"-Wl,-rpath,{tmp_path}",
        "-lm",
        "-o",
        "example",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    done = subprocess.run(["./example"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    printed = re.findall(r"^\w+\[(\d+)\] of state (\d+) = (.*)$", done.stdout, re.M)
    name = re.search(r"A batch of two_link_(\w+) by", (tmp_path / "examples" / "example.c").read_text())
    assert name is not None
    host = host_of(tmp_path, "two_link_cuda")
    arrays = [np.array([(1 + i % 9) / 10 for i in range(8)]).reshape(2, 4).T for _ in host.FUNCTIONS[name[1]][0]]
    expected = np.asarray(getattr(elastogen.build_model("two_link", outputs=OUTPUTS), name[1])(*arrays)).reshape(4, -1)
    assert len(printed) == expected.size
    for i, k, value in printed:
        assert abs(float(value) - expected[int(k), int(i)]) <= 1e-12 * np.abs(expected).max()
