"""The equations: which entries of M are zero, what every function costs, what is emitted."""

from __future__ import annotations

from html import escape

import numpy as np

from elastogen.build.identity import model_sha256
from elastogen.build.options import EmitOptions
from elastogen.build.pages.report.section import ReportSection, table
from elastogen.build.pages.report.subject import Subject
from elastogen.runtime.model.timing import time_functions


def sparsity(subject: Subject) -> ReportSection:
    """The entries of the mass matrix that are not always zero."""
    rng = np.random.default_rng(3)
    states = np.repeat(subject.home[None, :], 8, axis=0)
    for k, low, high in subject.ranges():
        states[:, k] = rng.uniform(low, high, len(states))
    states[:, subject.elastic] += rng.uniform(-0.01, 0.01, (len(states), int(subject.elastic.sum())))
    full = np.any(np.abs(np.asarray(subject.model.mass_matrix(states))) > 0, axis=0)
    n = len(full)
    cells = "".join(f'<i class="{"full" if entry else ""}"></i>' for row in full for entry in row)
    grid = f'<div class="matrix" style="grid-template-columns: repeat({n}, 1fr)">{cells}</div>'
    text = f"{int(full.sum())} of {n * n} entries are not zero; rows in the order {', '.join(subject.robot.velocity_names)}."
    return ReportSection("Mass matrix", text, (grid,))


def functions(subject: Subject) -> ReportSection:
    """Operations and times of the default functions, and their interfaces."""
    model = subject.model
    rows = []
    for timing in time_functions(model, seconds=0.005):
        count = timing.count
        rows.append(
            (
                timing.function, count.get("mul", 0), count.get("add", 0), count.get("div", 0), count.get("sincos", 0),
                f"{timing.c_seconds * 1e9:.0f}", f"{timing.python_seconds * 1e6:.1f}",
            )
        )  # fmt: skip
    head = ("function", "mul", "add", "div", "sin/cos", "C [ns]", "Python [us]")
    text = "Exact operation counts of the emitted C; shortest times measured on the machine that made this page."
    return ReportSection("Cost of the functions", text, (table(head, rows, numbers=range(1, 7)),))


def interface(subject: Subject) -> ReportSection:
    """What the header declares."""
    name = subject.robot.name
    rows = []
    for function in subject.model.functions:
        info = subject.model.kernel(function).info
        inputs = ", ".join(f"{a.name}[{a.size}]" for a in info.inputs)
        outputs = ", ".join(f"{a.name}[{a.size}]" for a in info.outputs)
        rows.append((f"{name}_{function}", inputs, outputs, info.brief))
    text = f"Functions of {name}.h; the first argument is always the live parameters, arrays are row-major."
    return ReportSection(
        "Emitted functions", text, (table(("function", "takes", "gives", "meaning"), rows), _identity(subject))
    )


def _identity(subject: Subject) -> str:
    return f'<p class="soft">Robot and options: sha256 {escape(model_sha256(subject.robot, EmitOptions()))}</p>'
