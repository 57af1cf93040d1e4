"""Own functions as a sampled control law in simulations: a chain with states, as the real-time loop computes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime import real_numbers
from elastogen.runtime.errors import ModelError, suggestion
from elastogen.runtime.interface.error import shortened

if TYPE_CHECKING:
    from elastogen.runtime.simulation.results import Simulation

NEXT, RATE = "_next", "_rate"
SEEN = ("q", "qd", "F_last")  # what a law sees of the robot, beside references


@dataclass(frozen=True, eq=False)
class SampledLaw:
    """Own functions of the robot, computed ``rate`` times a second, one after the other; their F is held between.

    Each takes its inputs by name from q, qd, F_last (the last F), ``references`` (numbers, or functions of the time), its own
    states and outputs of the functions before it. States begin with their initial values in every simulation.
    """

    functions: str | Sequence[str]
    rate: float = 1000.0  # [Hz]
    references: Mapping[str, ArrayLike | Callable[[float], ArrayLike]] = field(default_factory=dict)

    @property
    def chain(self) -> tuple[str, ...]:
        """Return the names of the functions in their order."""
        return (self.functions,) if isinstance(self.functions, str) else tuple(self.functions)


class LawRunner:
    """A running law: its states, and F of a sample."""

    def __init__(self, model: Any, law: SampledLaw, label: str) -> None:
        self._model, self._law, self._label = model, law, label
        self.period = 1.0 / self._rate(law.rate)
        infos = [model.functions.get(name) if isinstance(name, str) else None for name in law.chain]
        for name, info in zip(law.chain, infos, strict=True):
            if info is None:
                known = list(model.functions)
                raise ModelError(f"{label}: SampledLaw: {model.name} has no function {name!r}.{suggestion(name, known)}")
        self._infos = infos
        available = {*SEEN, *law.references}
        for info in infos:
            for argument in info.inputs:
                if argument.name not in available and argument.name not in info.states:
                    raise ModelError(
                        f"{label}: SampledLaw: {info.name} takes {argument.name}, which nothing gives. Fix: references="
                        f"{{{argument.name!r}: ...}}, a state, or an output of a function before it."
                    )
            available |= {output.name for output in info.outputs}
        if "F" not in available:
            raise ModelError(f"{label}: SampledLaw: no function of {', '.join(law.chain)} has an output F.")
        self.states: dict[str, dict[str, NDArray[Any]]] = {}
        self.last = np.zeros(model.nv)
        self.reset()

    def _rate(self, given: float) -> float:
        rate = real_numbers.number(f"{self._label}: SampledLaw.rate", given, "a number of Hz above 0")
        if rate <= 0.0:
            raise ModelError(f"{self._label}: SampledLaw.rate={shortened(given)}, expected a number of Hz above 0.")
        return rate

    def reset(self) -> None:
        """Reset the states to their start values."""
        self.last = np.zeros(self._model.nv)
        for info in self._infos:
            shapes = {argument.name: argument.shape for argument in info.inputs}
            self.states[info.name] = {name: np.array(v).reshape(shapes[name]) for name, v in info.states.items()}

    def __call__(self, t: float, q: NDArray[Any], qd: NDArray[Any]) -> NDArray[Any]:
        """Return F (nv,) of the sample at time t, and update the states."""
        given = {name: value(t) if callable(value) else value for name, value in self._law.references.items()}
        values: dict[str, Any] = {"q": q, "qd": qd, "F_last": self.last, **given}
        for info in self._infos:
            kept = self.states[info.name]
            arguments = {a.name: kept[a.name] if a.name in kept else values[a.name] for a in info.inputs}
            found = self._model.evaluate(info.name, **arguments)
            outputs = dict(zip([o.name for o in info.outputs], found if isinstance(found, tuple) else (found,), strict=True))
            values |= outputs
            for name, value in kept.items():
                moved = outputs.get(name + NEXT)
                kept[name] = np.array(moved if moved is not None else value + self.period * np.asarray(outputs[name + RATE]))
        self.last = np.array(values["F"], dtype=float)
        return self.last


def simulated(model: Any, law: SampledLaw, q0: ArrayLike, qd0: ArrayLike | None, t: Any, options: dict[str, Any]) -> Simulation:
    """Simulate period by period with the law's force held; samples are those of the times t."""
    from elastogen.runtime.simulation.motions import sample_times

    label = f"{model.name}.simulate"
    times = sample_times(label, t, options.pop("samples"))
    if options["stops"] not in ("report", "ignore"):
        raise ModelError(f"{label}: stops={options['stops']!r} with a SampledLaw, expected 'report' or 'ignore'.")
    runner = LawRunner(model, law, label)
    q, qd = np.asarray(q0, dtype=float), np.zeros(model.nv) if qd0 is None else np.asarray(qd0, dtype=float)
    if q.shape != (model.nq,) or qd.shape != (model.nv,):
        raise ModelError(
            f"{label}: q0 has shape {q.shape} and qd0 {qd.shape}, expected ({model.nq},) and ({model.nv},): one motion."
        )
    parts: list[Any] = []
    first, end, k = float(times[0]), float(times[-1]), 0
    while (begin := first + k * runner.period) < end - 1e-9 * runner.period or not parts:
        until = min(first + (k + 1) * runner.period, end)
        inside = times[(times >= begin - 1e-12) & (times < until - 1e-12)]
        nodes = np.unique(np.concatenate([[begin], inside, [until]]))
        part = model.simulate(q, qd, t=nodes, F=runner(begin, q, qd), **options)
        kept = np.isin(nodes, inside) | ((nodes == until) & (until >= end))
        parts.append((part, kept))
        if not part.ok:
            break
        q, qd, k = part.q[-1], part.qd[-1], k + 1
    return _joined(parts)


def _joined(parts: Sequence[tuple[Any, NDArray[Any]]]) -> Simulation:
    """Join the simulations of the periods; work and losses add up."""
    last = parts[-1][0]
    rows: dict[str, list[Any]] = {name: [] for name in ("t", "q", "qd", "F", "kinetic", "potential", "work", "dissipated")}
    sums = {"work": 0.0, "dissipated": 0.0}
    for part, kept in parts:
        for name, collected in rows.items():
            values = getattr(part, name)
            if values is not None:
                collected.append(values[kept[: len(values)]] + sums.get(name, 0.0))
        for name in sums:
            if getattr(part, name) is not None:
                sums[name] += float(getattr(part, name)[-1])
    whole: dict[str, Any] = {name: np.concatenate(found) if found else None for name, found in rows.items()}
    counts = {name: sum(getattr(p, name) for p, _ in parts) for name in ("steps", "rejections", "evaluations", "seconds")}
    found: Simulation = replace(last, **whole, **counts)
    return found
