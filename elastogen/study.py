"""Design studies: many simulations of one robot, here or on a Dask cluster.

A model cannot travel to another machine: its C code is compiled for this one. Its recipe can, and every worker builds
the model from it once, or loads it from its own cache::

    recipe = elastogen.Recipe("two_link", options={"outputs": "simulation"})
    cases = [{"q0": [0.1 * k, 0], "t": 5.0} for k in range(1000)]
    results = elastogen.run_study(recipe, cases, reduce=highest_speed)                       # this process
    results = elastogen.run_study(recipe, cases, reduce=highest_speed, client=dask_client)   # a cluster
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

import elastogen

if TYPE_CHECKING:
    from elastogen.generator.description.load_robot import RobotSource
    from elastogen.runtime import Model, Simulation

_MODELS: dict[str, Model] = {}  # of this process, by the text of their recipes
_BUILDING = Lock()


@dataclass(frozen=True)
class Recipe:
    """What makes a model: a robot (built-in name, mapping or Robot; a path must exist on every worker) and options."""

    robot: RobotSource
    options: Mapping[str, Any] = field(default_factory=dict)  # keyword arguments of build_model

    def model(self) -> Model:
        """The model, built once in every process."""
        key = repr((self.robot, sorted(self.options.items())))
        with _BUILDING:
            if key not in _MODELS:
                _MODELS[key] = elastogen.build_model(self.robot, **self.options)
            return _MODELS[key]


def run_study(
    recipe: Recipe,
    cases: Sequence[Mapping[str, Any]],
    *,
    reduce: Callable[[Simulation], Any] | None = None,
    client: Any = None,
    chunk: int = 20,
) -> list[Any]:
    """Simulate a model for every case, keyword arguments of ``Model.simulate``, and return the results in order.

    ``reduce`` makes a small result of each simulation where it was computed; without it the simulations come back
    whole. ``client`` is a ``dask.distributed.Client``; ``chunk`` cases make one task. Failed simulations are kept
    (see ``Simulation.status``), unless a case says otherwise.
    """
    parts = [list(cases[start : start + chunk]) for start in range(0, len(cases), chunk)]
    if client is None:
        answers = [_run_part(recipe, part, reduce) for part in parts]
    else:
        futures = client.map(_run_part, [recipe] * len(parts), parts, [reduce] * len(parts), pure=False)
        answers = client.gather(futures)
    return [result for answer in answers for result in answer]


def _run_part(recipe: Recipe, cases: Sequence[Mapping[str, Any]], reduce: Callable[[Simulation], Any] | None) -> list[Any]:
    """Simulate some cases in this process."""
    model = recipe.model()
    results = (model.simulate(**{"on_failure": "keep", "progress": False, **case}) for case in cases)
    return [result if reduce is None else reduce(result) for result in results]
