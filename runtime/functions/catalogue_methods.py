"""Methods of a model that call one emitted function each, made from data that ``make methods`` writes from the catalogue.

``catalogue_methods.pyi`` says to editors and mypy what is made here.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from elastogen.runtime.functions.evaluation import Evaluation

SHAPES = """Functions of the equation M(q) qdd + C(q, qd) qd + D qd + Q_e(q) + G(q) + friction = F, its frames and points.

``q``, ``qd``, ``qdd`` are (..., nq) in [rad] or [m] per coordinate, with time derivatives; forces ``F`` are (..., nq) in [N m]
or [N]; ``...`` are batch axes that broadcast. Six-vectors have the linear part first. Frames are in the order of
``frame_names``, the tip frame last; points in that of ``point_names``, in base components, without gravity; joints in the order
of the coordinates, force [N] first, then moment [N m]. Functions that factorize M take ``on_failure``: "raise" a ModelError,
or fill the failed states with "nan".
"""
_ROWS: list[dict[str, Any]] = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="ascii"))
_RESULTS = {1: "Array", 2: "tuple[Array, Array]", 3: "Triple", 4: "Quadruple"}


def _text(row: dict[str, Any]) -> str:
    """Return the method as Python source: a call costs no more than that of a method written by hand."""
    inputs, results = row["inputs"], row.get("results", 1)
    optional = " | None = None" if "constant" in row else ""
    given = "".join(f"{name}: ArrayLike{optional}, " for name in inputs)
    out = "Array" if results == 1 else "Sequence[Array]"
    failure, passed = (', on_failure: OnFailure = "raise"', ", on_failure") if "on_failure" in row else ("", "")
    head = f"def {row['name']}(self, {given}*, out: {out} | None = None, parameters: ParameterValues = None{failure})"
    arguments = "q" if "constant" in row else f"({''.join(f'{name}, ' for name in inputs)})"
    evaluate = "_evaluate_at" if "constant" in row else "_evaluate"
    call = f'return self.{evaluate}("{row["name"]}", {arguments}, out, parameters{passed})'
    return f"{head} -> {_RESULTS[results]}: {call}\n"


def methods(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Make the methods of these rows of the data, by name."""
    made: dict[str, Any] = {"__name__": __name__}
    exec("from __future__ import annotations\n" + "".join(map(_text, rows)), made)
    for row in rows:
        method = made[row["name"]]
        method.__doc__, method.__qualname__ = row["doc"], f"CatalogueMethods.{row['name']}"
    return {row["name"]: made[row["name"]] for row in rows}


CatalogueMethods = type("CatalogueMethods", (Evaluation,), {**methods(_ROWS), "__module__": __name__, "__doc__": SHAPES})
