"""Emitted C of three small robots, kept beside this file: every change of emitted code is seen in a diff.

``make golden`` (this module as a program) writes the files again. The functions are few and chosen for what they show, so that
new functions of the catalogue do not change them; sums of the robot and of the options are left out for the same reason.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from elastogen.build.options import BuildOptions
from elastogen.build.pipeline import render
from elastogen.build.plain_c.integrators import method_files
from elastogen.build.plain_c.laws import law_files
from elastogen.generator.description.load_robot import load

GOLDEN = Path(__file__).parent
SAMPLE = GOLDEN.parents[1] / "templates" / "sample"
REGISTERED = {"simulate": method_files, "loop": law_files}
"""Folders of the sample robot whose files are made from a registry."""
_FLEXIBLE: dict[str, Any] = {
    "elastogen": 1,
    "name": "golden_flexible",
    "description": "A spatial arm: a turning column and a link that bends in two planes.",
    "live": ["gravity"],
    "links": [
        {"name": "base"},
        {"name": "column", "mass": 2, "com": [0, 0, 0.1], "inertia": [0.1, 0.1, 0.1]},
        {"name": "beam", "flexible": {
            "type": "modes", "length": 0.8, "mass_per_length": 0.35, "EI": 0.17, "damping": {"rayleigh": {"beta": 0.01}},
            "modes": [{"direction": "y", "shape": "(x/L)**2"}, {"direction": "z", "shape": "(x/L)**2"}],
        }},
    ],
    "joints": [
        {"name": "turn", "type": "revolute", "axis": [0, 0, 1]},
        {"name": "lift", "type": "revolute", "axis": [0, 1, 0], "placement": {"xyz": [0, 0, 0.2]},
         "friction": {"viscous": 0.1, "coulomb": 0.2}},
    ],
    "tip": {"link": "beam"},
}  # fmt: skip
_SLIDING: dict[str, Any] = {
    "elastogen": 1,
    "name": "golden_sliding",
    "description": "A planar robot: a carriage slides along a beam of two elements.",
    "planar": {
        "links": [
            {"joint": "R", "length": 0.8, "mass_per_length": 0.35, "EI": 0.17, "elements": 2},
            {"joint": "Pa", "length": 0.2, "gamma": 0, "rigid": True, "mass": 0.5, "inertia": 0.01},
        ],
    },
}
CASES: dict[str, tuple[Any, tuple[str, ...]]] = {
    "two_link": ("two_link", ("mass_matrix", "inverse_dynamics", "forward_dynamics")),
    "golden_flexible": (_FLEXIBLE, ("elastic_forces", "gravity_vector", "friction_forces")),
    "golden_sliding": (_SLIDING, ("gravity_vector", "elastic_forces")),
}


SINCOS = {"golden_flexible": "libm"}  # of robots whose C calls the library; the others have sines and cosines of their own


def golden_texts(name: str, precision: str = "double") -> dict[str, str]:
    """File name -> text of header and source."""
    source, outputs = CASES[name]
    options = BuildOptions.checked(outputs=outputs, precision=precision, sincos=SINCOS.get(name, "fast"))
    model = render(load(source), options)
    return {file: re.sub(r"sha256 [0-9a-f]{64}", "sha256 (left out)", text) for file, text in model.c_files.items()}


if __name__ == "__main__":
    for folder, made in REGISTERED.items():  # of the sample robot
        for file, text in made().items():
            (SAMPLE / folder / file).write_text(text, encoding="ascii")
            print(SAMPLE / folder / file)
    for case in CASES:
        for file, text in golden_texts(case).items():
            (GOLDEN / file).write_text(text, encoding="ascii")
            print(GOLDEN / file)
