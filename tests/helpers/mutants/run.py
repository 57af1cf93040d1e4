"""Run a test command on every mutant of some files, in a copy of the tree; name those that nothing notices."""

from __future__ import annotations

import argparse
import copy
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mutants.mutations import Mutant, mutants_of

ROOT = Path(__file__).resolve().parents[3]
LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv", "*.egg-info", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", "out", "dist"
)


@dataclass(frozen=True)
class Survivor:
    """A mutant that the tests do not notice."""

    path: str
    mutant: Mutant

    def __str__(self) -> str:
        return f"{self.path}:{self.mutant}"


class Trial:
    """A copy of the tree, in which one file after the other is changed."""

    def __init__(self, command: Sequence[str], timeout: float, folder: Path) -> None:
        self._command, self._timeout = list(command), timeout
        self.noticed_by = ""
        self.tree = folder / "tree"
        shutil.copytree(ROOT, self.tree, symlinks=True, ignore=LEFT_OUT)
        self._environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(self.tree), str(self.tree / "tests" / "helpers")]),
            "PYTHONDONTWRITEBYTECODE": "1",
            "ELASTOGEN_CACHE_DIR": str(folder / "cache"),
        }

    @classmethod
    def beside(cls, other: Trial, command: Sequence[str]) -> Trial:
        """Another command in the same copy."""
        made = copy.copy(other)
        made._command = list(command)
        return made

    def passes(self) -> bool:
        """Whether the tests are content with the tree as it is; one that hangs is not content."""
        try:
            done = subprocess.run(
                self._command, cwd=self.tree, env=self._environment, capture_output=True, text=True, timeout=self._timeout,
                check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            self.noticed_by = "a test that does not end"
            return False
        failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.M)
        self.noticed_by = failed[0] if failed else ""
        return done.returncode == 0

    def output(self, environment: Mapping[str, str]) -> str:
        """What the tests say, with some more in their environment."""
        with_more = {**self._environment, **environment}
        done = subprocess.run(
            self._command,
            cwd=self.tree,
            env=with_more,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.stdout

    def survives(self, path: str, mutant: Mutant) -> bool:
        """Whether nobody notices a mutant of a file."""
        place = self.tree / path
        before = place.read_text(encoding="utf-8")
        place.write_text(mutant.text, encoding="utf-8")
        try:
            return self.passes()
        finally:
            place.write_text(before, encoding="utf-8")


def chosen(paths: Sequence[str], lines: str, every: int, first: int) -> list[tuple[str, Mutant]]:
    """The mutants of the files, within a range of lines, every so many of them."""
    least, _, most = lines.partition("-")
    bounds = (int(least or 0), int(most or 1 << 30))
    found = [
        (path, mutant)
        for path in paths
        for mutant in mutants_of(path, (ROOT / path).read_text(encoding="utf-8"))
        if bounds[0] <= mutant.line <= bounds[1]
    ]
    return found[first::every]


def survivors(paths: Sequence[str], command: Sequence[str], *, timeout: float = 300.0, lines: str = "", every: int = 1,
              first: int = 0, known: Sequence[str] = (), say: bool = True) -> list[Survivor]:  # fmt: skip
    """The mutants that the command does not notice, but for ``known`` ones, as :func:`described` names them."""
    left: list[Survivor] = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        trial = Trial(command, timeout, Path(folder))
        if not trial.passes():
            raise SystemExit(f"the tests fail without a mutant: {shlex.join(command)}")
        mutants = chosen(paths, lines, every, first)
        for number, (path, mutant) in enumerate(mutants, 1):
            if described(path, mutant) in known:
                continue
            if trial.survives(path, mutant):
                left.append(Survivor(path, mutant))
                if say:
                    print(f"survives: {left[-1]}    | {source_line(path, mutant)}", flush=True)
            elif say and number % 10 == 0:
                print(f"{number} of {len(mutants)}", file=sys.stderr, flush=True)
    return left


def source_line(path: str, mutant: Mutant) -> str:
    """The line that is changed, as it is."""
    return (ROOT / path).read_text(encoding="utf-8").splitlines()[mutant.line - 1].strip()


def described(path: str, mutant: Mutant) -> str:
    """A mutant by its file, the line's text and its change: stays the same when lines move."""
    return f"{path}: {source_line(path, mutant)}: column {mutant.column}: {mutant.before} -> {mutant.after}"


def main() -> int:
    """0: every mutant was noticed."""
    parser = argparse.ArgumentParser(prog="python -m mutants.run", description=__doc__)
    parser.add_argument("files", nargs="+", help="paths from the root of the tree: .py, .c, .h, .j2")
    parser.add_argument("--command", required=True, help="a test command; it runs in a copy of the tree")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds after which a run counts as noticed")
    parser.add_argument("--lines", default="", help="FIRST-LAST: only mutants of these lines")
    parser.add_argument("--every", type=int, default=1, help="only every so many mutants")
    parser.add_argument("--first", type=int, default=0, help="from this mutant on")
    parser.add_argument("--list", action="store_true", help="name the mutants, run nothing")
    options = parser.parse_args()
    if options.list:
        for path, mutant in chosen(options.files, options.lines, options.every, options.first):
            print(f"{path}:{mutant}    | {source_line(path, mutant)}")
        return 0
    left = survivors(
        options.files, shlex.split(options.command), timeout=options.timeout, lines=options.lines, every=options.every,
        first=options.first,
    )  # fmt: skip
    print(f"{len(left)} survive")
    return int(bool(left))


if __name__ == "__main__":
    sys.exit(main())
