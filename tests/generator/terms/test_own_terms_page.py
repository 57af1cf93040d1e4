"""docs/own/own-terms.md: its code runs, its file loads, and its claims about the catalogue are true."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from plain_programs import PlainPrograms

import elastogen
from elastogen.generator.description.file.read_yaml import read_yaml
from elastogen.generator.robot.location import Location

PAGE = (Path(__file__).parents[3] / "docs" / "own" / "own-terms.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.S)


def test_the_code_runs() -> None:
    (code,) = blocks("python")
    names: dict[str, Any] = {}
    exec(compile(code, "own-terms.md", "exec"), names)
    q, qd, zero = np.array([0.4, -1.1]), np.array([0.9, -0.3]), np.zeros(2)
    elbow = np.array([np.cos(q[0]), np.sin(q[0])]) - [0.3, 1.4]
    length = np.hypot(*elbow)
    along = np.array([-np.sin(q[0]) * elbow[0] + np.cos(q[0]) * elbow[1], 0.0])
    np.testing.assert_allclose(names["F"] - names["softer"], 40.0 * (length - 0.4) / length * along, rtol=1e-12)
    assert names["motion"].q.shape == (1001, 2)
    np.testing.assert_allclose(PlainPrograms(names["robot"])("inverse_dynamics", q=q, qd=qd, qdd=zero), names["F"], rtol=1e-12)


def test_the_file_loads() -> None:
    (text,) = blocks("yaml")
    robot = elastogen.load(read_yaml(text, Location("own-terms.md")))
    assert [term.name for term in robot.terms] == ["spring", "stop"]
    programs = PlainPrograms(robot)
    spring = 80 / 2 * (np.hypot(0.6 * np.cos(1.3) - 0.1, -0.6 * np.sin(1.3) - 0.5) - 0.2) ** 2
    weight = 2 * 9.81 * -0.3 * np.sin(1.3)
    np.testing.assert_allclose(programs("potential_energy", q=[1.3]), spring + weight + 300 * 0.3**2, rtol=1e-12)
    np.testing.assert_allclose(programs("friction_forces", q=[1.3], qd=[2.0]), [0.4], rtol=1e-12)  # at time 0
