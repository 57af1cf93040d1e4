"""Sizes of models: the bytes that other tools see in the same object file."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from robots_for_tests import example_urdf, quietly_loaded

import elastogen
from elastogen.build.export.size import model_size
from elastogen.command_line import main
from elastogen.generator.robot.errors import ElastogenError
from elastogen.generator.robot.robot import Robot

OUTPUTS = ["inverse_dynamics", "forward_dynamics", "mass_matrix"]


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
@pytest.mark.parametrize("optimize", ["-O2", "-Os"])
def test_sizes_are_those_of_the_object_file(tmp_path: Path, optimize: str) -> None:
    size = model_size("two_link", outputs=OUTPUTS, precision="float", compiler="gcc", optimize=optimize)
    elastogen.generate("two_link", tmp_path, outputs=OUTPUTS, precision="float")
    subprocess.run(["gcc", *size.flags, "-c", "two_link.c", "-o", "a.o"], cwd=tmp_path, check=True)
    sections = subprocess.run(["size", "-A", "a.o"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    text = sum(int(bytes_) for bytes_ in re.findall(r"^\.text\S*\s+(\d+)", sections, re.M))
    assert 0 <= text - size.code < 16 * (len(size.functions) + 4)  # between functions there is padding
    assert {function.name for function in size.functions} >= set(OUTPUTS)
    for function in size.functions:
        assert 0 < function.instructions <= function.code
        assert 0 < function.stack < 2000
    assert size.constants > 0


def test_less_is_smaller() -> None:
    small = model_size("two_link", outputs=["mass_matrix"], precision="float")
    large = model_size("two_link", outputs=["mass_matrix", "coriolis_matrix"], precision="float")
    assert small.code < large.code
    assert {f.name for f in small.functions} < {f.name for f in large.functions}


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["size", "two_link", "--outputs", "mass_matrix", "--optimize", "-Os"]) == 0
    assert "mass_matrix" in capsys.readouterr().out
    assert main(["size", "two_link", "--outputs", "mass_matrix", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["code"] == sum(function["code"] for function in data["functions"]) > 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"optimize": "-O9"}, "-O9"),
        ({"target": "cortex-m4f", "compiler": "none"}, "none"),
        ({"target": "x86_64 -fplugin=x"}, "expected a triple"),
        ({"target": "\udcff"}, "expected a triple"),
        ({"target": "no-such-machine", "compiler": "no-such-cc"}, "no-such"),
    ],
)
def test_what_cannot_be_measured(options: dict[str, str], words: str) -> None:
    with pytest.raises(ElastogenError, match=words):
        model_size("two_link", outputs=["mass_matrix"], **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("target", "says"),
    [
        (None, "executed: counted for cortex-m4f only, by qemu-system-arm"),
        ("cortex-m4f", "executed: not counted: qemu-system-arm was not found. Fix: apt-get install qemu-system-arm"),
    ],
)
def test_why_calls_are_not_counted(target: str | None, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if target and shutil.which("arm-none-eabi-gcc") is None:
        pytest.skip("arm-none-eabi-gcc not found (make emulator)")
    which = shutil.which
    monkeypatch.setattr(
        shutil, "which", lambda name, *more, **k: None if name == "qemu-system-arm" else which(name, *more, **k)
    )
    assert says in model_size("two_link", outputs=["gravity_vector"], target=target).table().splitlines()


MISSING = [tool for tool in ("arm-none-eabi-gcc", "qemu-system-arm") if shutil.which(tool) is None]
EMULATED = pytest.mark.skipif(bool(MISSING), reason=f"{' and '.join(MISSING)} not found (make emulator)")
SLIDES = {  # without an angle its functions are straight lines
    "elastogen": 1, "name": "slides",
    "links": [{"name": "base"}, *({"name": f"body{k}", "mass": 1.0 + k} for k in range(3))],
    "joints": [
        {"name": f"slide{k}", "type": "prismatic", "child": f"body{k}", "axis": np.eye(3)[k].tolist()} for k in range(3)
    ],
}  # fmt: skip


@EMULATED
def test_a_straight_line_executes_every_instruction_once() -> None:
    size = model_size(SLIDES, outputs=["inverse_dynamics", "kinetic_energy"], precision="float", target="cortex-m4f")
    assert "-mcpu=cortex-m4" in size.flags
    for function in size.functions:
        assert function.executed == function.instructions > 5, function


def bare_panda(folder: Path) -> Robot:
    """Panda with fixed fingers and without friction, as in the benchmarks."""
    text = re.sub(r"<(dynamics|mimic)\b[^>]*/>", "", example_urdf("panda").read_text(encoding="utf-8"))
    path = folder / "panda.urdf"
    path.write_text(re.sub(r'(name="panda_finger_joint\d"\s+type=)"prismatic"', r'\1"fixed"', text), encoding="utf-8")
    return quietly_loaded(path)


@EMULATED
@pytest.mark.parametrize(
    ("robot", "output", "executed"), [("panda", "inverse_dynamics", 1150), ("par_table3", "forward_dynamics", 900)]
)
def test_what_calls_cost_at_most(robot: str, output: str, executed: int, tmp_path: Path) -> None:
    """Bounds in float at -O2; those of today are 1119 and 759."""
    source = bare_panda(tmp_path) if robot == "panda" else robot
    (size,) = model_size(source, outputs=[output], precision="float", target="cortex-m4f").functions
    assert size.executed is not None
    assert size.executed <= executed
    assert size.stack <= 320


COMPILED = pytest.mark.skipif("arm-none-eabi-gcc" in MISSING, reason="arm-none-eabi-gcc is not installed (make emulator)")


@COMPILED
def test_long_chains_keep_stacks_of_boards_small() -> None:
    """Thirty joints in double, the larger of the two precisions: all frames of a call together."""
    links = [
        {"name": f"link{k}", "mass": 1.0 + 0.1 * k, "com": [0.01, 0.02, 0.1], "inertia": [0.01, 0.02, 0.03]} for k in range(30)
    ]
    axes = [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
    joints = [
        {
            "name": f"joint{k}",
            "type": "revolute",
            "child": f"link{k}",
            "axis": axes[k % 3],
            "placement": {"xyz": [0.05, 0.02, 0.3]},
        }
        for k in range(30)
    ]
    chain = {"elastogen": 1, "name": "chain", "links": [{"name": "base"}, *links], "joints": joints}
    (size,) = (
        f for f in model_size(chain, outputs=["inverse_dynamics"], target="cortex-m4f").functions if f.name != "(shared)"
    )
    assert 1000 < size.stack <= 8 * 1024


@COMPILED
def test_a_whole_model_fits_in_little_flash() -> None:
    size = model_size("puma560", precision="float", target="cortex-m4f", optimize="-Os")
    assert size.code + size.constants <= 22 * 1024
