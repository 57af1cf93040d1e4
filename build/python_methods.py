"""Methods of a model that come from the catalogue: data for the runtime and a stub for editors, ``make methods``.

A function of the catalogue with a text in ``generator/functions/python_methods.py`` is a method of ``Model``. The runtime
imports nothing of the generator: it reads the file that this module writes.
"""

from __future__ import annotations

import inspect
import json
import textwrap
from pathlib import Path
from typing import Any

from elastogen.generator.functions.derivation import CATALOGUE
from elastogen.generator.functions.python_methods import METHODS

ROOM = Path(__file__).resolve().parents[1] / "runtime" / "functions"
DATA, STUB = ROOM / "catalogue_methods.json", ROOM / "catalogue_methods.pyi"
_RESULTS = {1: "Array", 2: "tuple[Array, Array]", 3: "Triple", 4: "Quadruple"}
_HEAD = '''"""Methods of a model that call one emitted function each. Written from the catalogue by ``make methods``."""

from collections.abc import Sequence

from numpy.typing import ArrayLike

from elastogen.runtime.functions.evaluation import Array, Evaluation, OnFailure, ParameterValues, Quadruple, Triple

def methods(rows: list[dict[str, object]]) -> dict[str, object]: ...

class CatalogueMethods(Evaluation):
'''


def rows() -> list[dict[str, Any]]:
    """What the runtime reads: name, text, inputs and the rest of each method that is not as usual."""
    found = []
    for name, method in METHODS.items():
        row: dict[str, Any] = {"name": name, "doc": inspect.cleandoc(method.doc), "inputs": list(CATALOGUE[name].inputs)}
        if method.constant:
            row |= {"inputs": ["q"], "constant": True}
        row |= {"results": method.results} if method.results > 1 else {}
        row |= {"on_failure": True} if method.on_failure else {}
        found.append(row)
    return found


def data() -> str:
    """The file of the runtime."""
    return "[\n" + ",\n".join(json.dumps(row, ensure_ascii=True) for row in rows()) + "\n]\n"


def stub() -> str:
    """The same for editors and mypy."""
    return _HEAD + "\n".join(_declaration(row) for row in rows())


def _declaration(row: dict[str, Any]) -> str:
    optional = " | None = None" if row.get("constant") else ""
    out = "Array" if row.get("results", 1) == 1 else "Sequence[Array]"
    arguments = ["self", *(f"{name}: ArrayLike{optional}" for name in row["inputs"]), "*", f"out: {out} | None = None"]
    arguments += ["parameters: ParameterValues = None", *(['on_failure: OnFailure = "raise"'] if "on_failure" in row else [])]
    head = f"    def {row['name']}({', '.join(arguments)}) -> {_RESULTS[row.get('results', 1)]}:"
    if len(head) > 128:
        listed = ", ".join(arguments)
        if len(listed) > 120:
            listed = ",\n        ".join(arguments) + ","
        head = f"    def {row['name']}(\n        {listed}\n    ) -> {_RESULTS[row.get('results', 1)]}:"
    text = textwrap.indent(row["doc"], " " * 8).strip()
    return f'{head}\n        """{text}' + ('\n        """\n' if "\n" in text else '"""\n')


if __name__ == "__main__":
    DATA.write_text(data(), encoding="ascii")
    STUB.write_text(stub(), encoding="ascii")
