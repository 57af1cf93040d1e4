"""Batch kernels for OpenCL, run by PoCL on this processor, and their hosts in Python and C."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from c_compilers import WARNINGS
from devices.hosts import OUTPUTS, as_tuple, batch_of, host_of

import elastogen

HERE = Path(__file__).resolve()
STAND_IN = HERE.parents[2] / "helpers" / "devices" / "opencl_stand_in"


def has_opencl() -> bool:
    """Whether the first platform compiles: PoCL of the wheel does not know every processor."""
    try:
        import pyopencl

        device = pyopencl.get_platforms()[0].get_devices()[0]
        pyopencl.Program(pyopencl.Context([device]), "__kernel void f(__global float *x) { x[0] = 1.0f; }").build()
    except Exception:  # not installed, no platform, or none that compiles here: pyopencl has errors of its own
        return False
    return True


INSTALL = "pip install 'elastogen[opencl]', or apt-get install pocl-opencl-icd where its PoCL does not know the processor"
runs = pytest.mark.skipif(not has_opencl(), reason=f"pyopencl has no platform that compiles kernels: {INSTALL}")


@runs
@pytest.mark.parametrize(
    ("robot", "precision"),
    [("two_link", "double"), ("two_link", "float"), ("puma560", "double"), ("rpb_table3", "double"), ("satellite", "double")],
)
def test_kernels_equal_the_compiled_model(tmp_path: Path, robot: str, precision: str) -> None:
    """The same C: equal to 1e-12 of the largest number (float: 1e-4), rigid, sliding and floating."""
    outputs = OUTPUTS if robot in ("two_link", "puma560") else OUTPUTS[:3]
    elastogen.export(robot, tmp_path, format="opencl", outputs=outputs, precision=precision)
    host = host_of(tmp_path, f"{robot}_opencl")
    kernels = host.Kernels()
    model = elastogen.build_model(robot, outputs=outputs, precision=precision)
    for name in outputs:
        states = batch_of(host, robot, name, 37)
        expected = as_tuple(getattr(model, name)(*states.values()))
        got = as_tuple(kernels(name, *states.values()))
        assert len(got) == len(expected)
        for ours, theirs in zip(got, expected, strict=True):
            assert ours.shape == theirs.shape
            assert np.abs(ours - theirs).max() <= (1e-12 if precision == "double" else 1e-4) * np.abs(theirs).max(), name


@runs
def test_live_parameters_and_wrong_calls(tmp_path: Path) -> None:
    elastogen.export("two_link", tmp_path, format="opencl", outputs=OUTPUTS[:2])
    kernels = host_of(tmp_path, "two_link_opencl").Kernels()
    model = elastogen.build_model("two_link", outputs=OUTPUTS[:2])
    model.parameters["payload_mass"] = 1.5
    q, qd, qdd = np.random.default_rng(1).uniform(-1, 1, (3, 10, 2))
    expected = model.inverse_dynamics(q, qd, qdd)
    assert np.allclose(kernels("inverse_dynamics", q, qd, qdd, payload_mass=1.5), expected, rtol=1e-12, atol=1e-14)
    with pytest.raises(TypeError, match="expected q, qd, qdd"):
        kernels("inverse_dynamics", q, qd)
    with pytest.raises(TypeError, match="got the parameter payload_mas,"):
        kernels("inverse_dynamics", q, qd, qdd, payload_mas=1.5)
    with pytest.raises(ValueError, match="qd has the shape"):
        kernels("inverse_dynamics", q, qd[:5], qdd)
    with pytest.raises(ArithmeticError, match="no result for 10 of 10 states"):
        kernels("forward_dynamics", q, qd, qdd, payload_mass=-100.0)


@runs
def test_example_in_python(tmp_path: Path) -> None:
    elastogen.export("two_link", tmp_path, format="opencl", outputs=OUTPUTS[:1])
    done = subprocess.run([sys.executable, "example.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("F: (1000, 2), the first state's: [")


def test_host_in_c(tmp_path: Path) -> None:
    """With the strict flags and our stand-in of the header; linked and run where pyopencl brings the library."""
    elastogen.export("two_link", tmp_path, format="opencl", outputs=OUTPUTS)
    command = ["cc", *WARNINGS, "-I.", f"-I{STAND_IN}"]
    sources = ["two_link.c", "two_link_opencl.c", "examples/example.c"]
    for source in sources[1:]:
        done = subprocess.run([*command, "-fsyntax-only", source], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    if not has_opencl():
        pytest.skip("compiled; not run, as pyopencl with a platform is not installed")
    import pyopencl

    folder = Path(pyopencl.__file__).parent
    libraries = [*folder.rglob("libOpenCL*"), *folder.parent.glob("pyopencl.libs/libOpenCL*")]
    if not libraries:
        pytest.skip("compiled; not run, as this pyopencl brings no library to link with")
    library = libraries[0]
    linked = [*command, *sources, str(library), f"-Wl,-rpath,{library.parent}", "-lm", "-o", "example"]
    done = subprocess.run(linked, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    vendors = {}
    if "OCL_ICD_VENDORS" in os.environ:  # that of pyopencl here
        pass
    elif [*Path("/etc/OpenCL/vendors").glob("*.icd")]:  # the system's, which pyopencl takes first, too
        vendors = {"OCL_ICD_VENDORS": "/etc/OpenCL/vendors"}
    elif [*library.parent.glob("*.icd")]:  # PoCL beside it
        vendors = dict.fromkeys(("OCL_ICD_VENDORS", "LD_LIBRARY_PATH"), str(library.parent))
    done = subprocess.run(["./example"], cwd=tmp_path, capture_output=True, text=True, env={**os.environ, **vendors})
    if done.returncode and "OpenCL: error -1001" in done.stderr:
        pytest.skip("compiled and linked; not run, as the library finds no platform outside Python")
    assert done.returncode == 0, done.stderr
    printed = re.findall(r"^(\w+)\[(\d+)\] of state (\d+) = (.*)$", done.stdout, re.M)
    name = re.search(r"A batch of two_link_(\w+) by", (tmp_path / "examples" / "example.c").read_text())
    assert name is not None
    model = elastogen.build_model("two_link", outputs=OUTPUTS)
    host = (tmp_path / "two_link_opencl.py").read_text()
    inputs = re.search(rf'"{name[1]}": \(\n +{{(.*?)}},\n', host)
    assert inputs is not None
    arrays = [np.array([(1 + i % 9) / 10 for i in range(8)]).reshape(2, 4).T for _ in inputs[1].split(":")[1:]]
    expected = np.asarray(getattr(model, name[1])(*arrays)).reshape(4, -1)
    assert len(printed) == expected.size
    for _, i, k, value in printed:
        assert abs(float(value) - expected[int(k), int(i)]) <= 1e-12 * np.abs(expected).max()


def test_names_of_opencl_are_refused(tmp_path: Path) -> None:
    robot = elastogen.load("two_link")
    half = elastogen.symbols(robot).input("half", 1)
    robot = robot.with_function("scaled", inputs={"half": 1}, outputs={"y": 2 * half})
    with pytest.raises(elastogen.OutputError, match="got the name 'half'"):
        elastogen.export(robot, tmp_path, format="opencl", outputs=["scaled"])


def test_kernels_are_the_models_c(tmp_path: Path) -> None:
    """The body of each function stands in the kernels as it is; the same bytes come out twice."""
    for folder in ("one", "two"):
        elastogen.export("puma560", tmp_path / folder, format="opencl", outputs=OUTPUTS[:2])
    kernels = (tmp_path / "one" / "puma560.cl").read_text()
    assert kernels == (tmp_path / "two" / "puma560.cl").read_text()
    source = (tmp_path / "one" / "puma560.c").read_text()
    bodies = re.findall(r"^(?:void|int) puma560_\w+\([^)]*\)\n{\n.*?^}\n", source, re.M | re.S)
    assert len(bodies) == 2
    assert all(body in kernels for body in bodies)
