"""Design studies: many simulations of one robot, here or on a Dask cluster.

A model cannot travel to another machine: its C code is compiled for this one. Its recipe can, and every worker builds
the model from it once, or loads it from its own cache::

    recipe = elastogen.Recipe("two_link", options={"outputs": "simulation"})
    cases = [{"q0": [0.1 * k, 0], "t": 5.0} for k in range(1000)]
    results = elastogen.run_study(recipe, cases, reduce=highest_speed)                       # this process
    results = elastogen.run_study(recipe, cases, reduce=highest_speed, client=dask_client)   # a cluster
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import elastogen
from elastogen.build.identity import model_sha256
from elastogen.build.options import BuildOptions
from elastogen.runtime.errors import ModelError
from elastogen.runtime.simulation.progress_bar import ProgressBar
from elastogen.study_blocks import simulate_all
from elastogen.study_table import StudyTable, row_of

if TYPE_CHECKING:
    from elastogen.generator.description.load_robot import RobotSource
    from elastogen.runtime import Model, Simulation

Cases: TypeAlias = Sequence[Mapping[str, Any]]
Reduce: TypeAlias = "Callable[[Simulation], Any]"
_MODELS: dict[tuple[str, str], Model] = {}  # of this process, by the sums of their robots and by their options
_BUILDING = Lock()


@dataclass(frozen=True)
class Recipe:
    """The recipe of a model: a robot (built-in name, mapping or Robot; a path must exist on every worker) and options."""

    robot: RobotSource
    options: Mapping[str, Any] = field(default_factory=dict)  # keyword arguments of build_model

    def model(self) -> Model:
        """Return the model, which every process builds once; a changed file gives another model."""
        robot, options = elastogen.load(self.robot), BuildOptions.checked(**self.options)
        key = (model_sha256(robot, options.emit), repr(options))
        with _BUILDING:
            if key not in _MODELS:
                _MODELS[key] = elastogen.build_model(robot, **self.options)
            return _MODELS[key]

    def settled(self) -> Recipe:
        """Return the recipe with the file as it is now, so that all tasks of a study are about one robot."""
        is_file = isinstance(self.robot, (str, os.PathLike))
        seen_here = is_file and (os.path.exists(self.robot) or str(self.robot).isidentifier())  # type: ignore[arg-type]
        return replace(self, robot=elastogen.load(self.robot)) if seen_here else self

    def identity(self) -> tuple[object, ...]:
        """Return what identifies the recipe in any process."""
        if isinstance(self.robot, (str, os.PathLike)):  # a file that only the workers see
            return (os.fspath(self.robot), self.options)
        return (model_sha256(elastogen.load(self.robot), BuildOptions.checked(**self.options).emit), self.options)


@overload
def run_study(
    recipe: Recipe, cases: Cases, *, reduce: Reduce | None = None, client: Any = None, chunk: int = 20,
    progress: bool | None = None, table: None = None,
) -> list[Any]: ...  # fmt: skip


@overload
def run_study(
    recipe: Recipe, cases: Cases, *, reduce: Reduce, table: str | Path, client: Any = None, chunk: int = 20,
    progress: bool | None = None,
) -> Path: ...  # fmt: skip


def run_study(
    recipe: Recipe,
    cases: Cases,
    *,
    reduce: Reduce | None = None,
    client: Any = None,
    chunk: int = 20,
    progress: bool | None = None,
    table: str | Path | None = None,
) -> list[Any] | Path:
    """Simulate a model for every case, keyword arguments of ``Model.simulate``, and return the results in order.

    ``reduce`` makes a small result of each simulation where it was computed; without it the simulations come back
    whole. ``client`` is a ``dask.distributed.Client``; ``chunk`` cases make one task, and tasks of a worker that is lost
    are done by others. Failed simulations are kept (see ``Simulation.status``), unless a case says otherwise.
    Cases of a task that differ in ``q0``, ``qd0`` and ``parameters`` only, with ``method`` "rk4" or "generalized_alpha", are
    simulated as one batch: several at once where the recipe has ``lanes=True``, with the same results.
    ``progress`` shows a bar on stderr; by default on a terminal.

    With ``table``, a folder that all workers see, results stay on disk: ``reduce`` returns a mapping of names to numbers,
    texts or arrays, every task writes a Parquet file of its cases (with the columns ``case`` and ``status``), and the
    folder is returned, for ``pyarrow.parquet.read_table(folder)``, pandas or Dask. Called again after an interruption,
    the study goes on where it was.
    """
    _check(recipe, cases, reduce, chunk)
    if client is not None and not hasattr(client, "map"):
        raise ModelError(f"run_study: client={client!r}, expected a distributed.Client, or None: in this process.")
    recipe = recipe.settled()
    parts = [_Part(k, start, list(cases[start : start + chunk])) for k, start in enumerate(range(0, len(cases), chunk))]
    kept = None
    if table is not None:
        if reduce is None:
            raise ModelError("run_study: a table without reduce, expected the function that makes its rows. Fix: give reduce=.")
        kept = StudyTable(Path(table).absolute())
        kept.begin((*recipe.identity(), list(cases), chunk, reduce))
    task = _Task(recipe, reduce, kept, threads=None if client is None else 1)  # a cluster has its own threads
    answers: dict[int, list[Any]] = {}
    bar, missing = ProgressBar("study", progress), [p for p in parts if kept is None or not kept.is_written(p.number)]
    done = len(cases) - sum(len(part.cases) for part in missing)
    for part, answer in _answers(task, missing, client):
        answers[part.number] = answer
        done += len(part.cases)
        bar.show(done / len(cases), f" of {len(cases)} cases")
    bar.close()
    if kept is None:
        return [result for part in parts for result in answers[part.number]]
    for part in missing:
        if not kept.is_written(part.number):
            raise ModelError(
                f"run_study: {kept.path(part.number)} was written where this process cannot see it. Fix: name a folder that "
                "all workers share."
            )
    kept.finish(len(parts))
    return kept.folder


def _check(recipe: object, cases: object, reduce: object, chunk: object) -> None:
    """Refuse arguments that would otherwise fail only after the first simulations."""
    if not isinstance(recipe, Recipe) or not isinstance(recipe.options, Mapping):
        raise ModelError(f"run_study: recipe={recipe!r}, expected for example Recipe('two_link', {{'outputs': 'simulation'}}).")
    if isinstance(chunk, bool) or not isinstance(chunk, int) or chunk < 1:
        raise ModelError(f"run_study: chunk={chunk!r}, expected how many cases make one task: 1 or more.")
    if reduce is not None and not callable(reduce):
        raise ModelError(f"run_study: reduce={reduce!r}, expected a function of a Simulation.")
    if not isinstance(cases, Sequence) or isinstance(cases, (str, bytes)):
        raise ModelError(f"run_study: cases is {type(cases).__name__}, expected a list of cases. Fix: list(...) of them.")
    known = [name for name in inspect.signature(elastogen.Model.simulate).parameters if name != "self"]
    for number, case in enumerate(cases):
        place = f"run_study: case {number}"
        if not isinstance(case, Mapping):
            raise ModelError(f"{place} is {case!r}, expected arguments of Model.simulate, for example {{'q0': [0.1], 't': 1}}.")
        wrong = [name for name in case if name not in known]
        if wrong:
            raise ModelError(f"{place} has {wrong[0]!r}, expected arguments of Model.simulate: {', '.join(known)}.")
        missing = [name for name in ("q0", "t") if name not in case]
        if missing:
            raise ModelError(f"{place} has no {missing[0]!r}. Fix: give q0, the start, and t, the end or the sample times [s].")


@dataclass(frozen=True)
class _Part:
    """A part of the cases that begins with the one of number ``first``."""

    number: int
    first: int
    cases: Cases


@dataclass(frozen=True)
class _Task:
    """The work on one part, in any process."""

    recipe: Recipe
    reduce: Reduce | None
    table: StudyTable | None
    threads: int | None  # that simulate a batch; None: on all cores

    def __call__(self, part: _Part) -> list[Any]:
        results: list[Any] = []
        motions = simulate_all(self.recipe.model(), part.cases, self.threads)
        for number, motion in enumerate(motions, part.first):
            result = motion if self.reduce is None else self.reduce(motion)
            results.append(result if self.table is None else row_of(number, str(motion.status), result))
        if self.table is None:
            return results
        self.table.write(part.number, results)
        return []


def _answers(task: _Task, parts: list[_Part], client: Any) -> Iterator[tuple[_Part, list[Any]]]:
    """Yield the answers of the parts as they arrive; answers of a cluster are released one by one."""
    if client is None:
        yield from ((part, task(part)) for part in parts)
        return
    import distributed

    futures = client.map(task, parts, key="elastogen-study", pure=False)
    part_of = {future.key: part for future, part in zip(futures, parts, strict=True)}
    waiting: Any = distributed.as_completed(futures, with_results=True)  # type: ignore[no-untyped-call]
    del futures
    for future, answer in waiting:
        yield part_of[future.key], answer
        future.release()
