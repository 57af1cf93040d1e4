"""The recipe for a new integrator in docs/architecture.md: a C file, an entry, and what reads the registry knows it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from elastogen.build.plain_c.emission import parts
from elastogen.runtime.interface.integrators import DEFAULT, INTEGRATORS, integrator, names

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = ROOT / "tests" / "helpers" / "added_kinds" / "heun_integrator.py"


def test_a_new_integrator_is_simulated_with(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, PROGRAM, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["gain"] == pytest.approx(4.0, rel=0.02)  # order 2
    assert found["lanes"], "several motions at once differ from each alone"
    assert "or 'heun'." in found["refused"]
    assert found["help"]
    assert found["files"]


def test_every_entry_has_its_c_file_its_own_number_and_a_row_of_documentation() -> None:
    page = (ROOT / "docs" / "running" / "simulation.md").read_text(encoding="utf-8")
    assert len({entry.number for entry in INTEGRATORS}) == len({entry.name for entry in INTEGRATORS}) == len(INTEGRATORS)
    for entry in INTEGRATORS:
        assert f"robot_sim_{entry.name}.h" in parts()
        assert f'| `"{entry.name}"`' in page, f"{entry.name}: docs/running/simulation.md has no row for it"
    assert integrator(DEFAULT).adaptive
    assert names()[0] == DEFAULT
    assert DEFAULT not in names(adaptive=False)
