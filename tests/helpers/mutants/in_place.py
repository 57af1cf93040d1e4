"""A plugin for pytest, as ``forked``: each mutant changes its file while its process runs.

A Python module is loaded already when a process starts: there the code of its changed functions is exchanged. A change outside
of functions cannot be exchanged so; ``is_in_a_function`` tells.
"""

from __future__ import annotations

import ast
import gc
import json
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType

import pytest

from mutants.forked import Mutants, named_files

_Cached = type(cache(len))  # what functools makes of a function with a cache


class InPlace(Mutants):
    """One after the other, since they share the tree. Their texts are in a file beside the one that names them."""

    workers = 1

    def __init__(self, wanted: Path, found: Path) -> None:
        super().__init__(wanted, found)
        self._texts = {int(number): text for number, text in json.loads(wanted.with_suffix(".texts").read_text()).items()}
        self._before = ""

    def share(self, session: pytest.Session, base: Path) -> None:
        """Nothing: every mutant has files of its own, and so has all that is made of them."""

    def begin(self, number: int) -> None:
        """Write the mutant."""
        place = Path(self._files[number])
        self._before = place.read_text(encoding="utf-8")
        place.write_text(self._texts[number], encoding="utf-8")

    def become(self, session: pytest.Session, number: int) -> None:
        """Exchange the code of a module, and build models into a folder of its own."""
        forget()
        if self._files[number].endswith(".py"):
            exchange(self._files[number], self._texts[number])
        factory = session.config._tmp_path_factory  # type: ignore[attr-defined]
        own = factory.getbasetemp() / f"mutant-{number}"
        own.mkdir()
        factory._basetemp = own

    def end(self, number: int) -> None:
        """Write the file as it was."""
        Path(self._files[number]).write_text(self._before, encoding="utf-8")


def is_in_a_function(text: str, line: int) -> bool:
    """Whether a line of a Python module is in the body of a function."""
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return any(node.body[0].lineno <= line <= (node.end_lineno or 0) for node in functions)


def forget() -> None:
    """Empty the caches of elastogen's functions: they may have texts of files as they were when the tests were collected."""
    for cached in [each for each in gc.get_objects() if isinstance(each, _Cached)]:
        if str(getattr(cached, "__module__", "")).startswith("elastogen."):
            cached.cache_clear()


def exchange(path: str, text: str) -> int:
    """Give the functions of a loaded module the code that a text has for them; how many it has."""
    name = "elastogen." + path.removeprefix("elastogen/").removesuffix(".py").replace("/", ".")
    module = sys.modules.get(name)
    if module is None:
        return 0
    new = {(code.co_name, code.co_firstlineno): code for code in _codes(compile(text, str(module.__file__), "exec"))}
    functions = [each for each in gc.get_objects() if isinstance(each, FunctionType) and each.__module__ == name]
    for function in functions:
        found = new.get((function.__code__.co_name, function.__code__.co_firstlineno))
        if found is not None and found.co_freevars == function.__code__.co_freevars:
            function.__code__ = found
    return len(functions)


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


def pytest_configure(config: pytest.Config) -> None:
    """As ``forked``."""
    config.pluginmanager.register(InPlace(*named_files()), "all-mutants")
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
