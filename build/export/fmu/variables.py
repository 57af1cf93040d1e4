"""The variables of a functional mock-up unit, each one number: name, unit, start value, and place in its array."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from elastogen.generator.functions.derivation import ModelDerivation
from elastogen.generator.robot.neutral import neutral
from elastogen.generator.robot.own.terms import TIME

AXES = ("x", "y", "z")
FRAME_BLOCKS = ("FRAME_POSITIONS", "FRAME_ROTATIONS", "FRAME_VELOCITIES")


@dataclass(frozen=True)
class Variable:
    """One variable; its value reference is its place."""

    reference: int
    name: str
    causality: str
    variability: str
    unit: str
    doc: str
    initial: str = ""
    start: str = ""  # "" where it has none
    derivative_of: int = 0  # reference of the state; 0, the time, stands for none


@dataclass(frozen=True)
class Block:
    """Neighbours in the array, which C addresses by a macro."""

    name: str
    start: int
    size: int
    doc: str


class Variables:
    """All variables of a robot's unit in the order of their references; time has reference 0."""

    def __init__(self, derivation: ModelDerivation) -> None:
        self._derivation = derivation
        self.all = [Variable(0, "time", "independent", "continuous", "s", "time")]
        self.blocks: list[Block] = []
        self._parameters()
        self._inputs()
        states = self._states()
        self._derivatives(states)
        self._outputs()

    @cached_property
    def driven(self) -> tuple[int, ...]:
        """Return the velocities on which a drive acts."""
        return tuple(k for k, elastic in enumerate(self._derivation.elastic_coordinates) if not elastic)

    def references(self, *blocks: str) -> list[int]:
        """Return the references in these blocks."""
        return [block.start + k for name in blocks for block in self.blocks if block.name == name for k in range(block.size)]

    def _add(self, name: str, doc: str, rows: Iterable[dict[str, str | int]], **common: str) -> Block:
        start = len(self.all)
        for row in rows:
            self.all.append(Variable(reference=len(self.all), **{**common, **row}))  # type: ignore[arg-type]
        block = Block(name, start, len(self.all) - start, doc)
        self.blocks.append(block)
        return block

    def _parameters(self) -> None:
        rows: list[dict[str, str | int]] = [
            {"name": p.name, "unit": p.unit, "doc": p.doc or p.name, "start": repr(float(p.value))}
            for p in self._derivation.robot.live_parameters
            if p.name != TIME
        ]
        self._add("PARAMETERS", "live parameters", rows, causality="parameter", variability="tunable", initial="exact")

    def _inputs(self) -> None:
        common = {"causality": "input", "variability": "continuous", "start": "0.0"}
        names, units = self._derivation.velocity_names, self._derivation.velocity_units
        rows: list[dict[str, str | int]] = [
            {"name": f"F.{names[k]}", "unit": "N" if units[k] == "m" else "N.m", "doc": f"driving force of {names[k]}"}
            for k in self.driven
        ]
        self._add("FORCES", "driving forces", rows, **common)
        rows = []
        points, frames = self._derivation.point_names, self._derivation.frames
        for place in ("tip", *(f"point.{name}" for name in points), *(f"frame.{name}" for name in frames)):
            for kind, unit in (("force", "N"), ("moment", "N.m")):
                doc = f"{kind} on it, base components"
                rows += [{"name": f"{place}.{kind}.{axis}", "unit": unit, "doc": doc} for axis in AXES]
        places = "the tip, then on every point" + (", then on every frame" if frames else "")
        self._add("WRENCHES", f"force and moment on {places}, in base components", rows, **common)

    def _states(self) -> list[int]:
        d = self._derivation
        common = {"causality": "output", "variability": "continuous", "initial": "exact"}
        starts = dict(enumerate(neutral(d.robot) if d.loops is None else d.loops.start))
        starts |= {selector.coordinate: 0.5 * selector.upper for selector in d.selectors}
        position = zip(d.coordinate_names, d.coordinate_units, strict=True)
        rows: list[dict[str, str | int]] = [
            {"name": f"q.{name}", "unit": unit, "doc": f"coordinate {name}", "start": repr(float(starts[k]))}
            for k, (name, unit) in enumerate(position)
        ]
        first = self._add("Q", "coordinates", rows, **common)
        rows = [
            {"name": f"qd.{name}", "unit": f"{unit}/s" if unit else "", "doc": f"velocity {name}", "start": "0.0"}
            for name, unit in zip(d.velocity_names, d.velocity_units, strict=True)
        ]
        second = self._add("QD", "velocities", rows, **common)
        return list(range(first.start, second.start + second.size))

    def _derivatives(self, states: list[int]) -> None:
        rows: list[dict[str, str | int]] = []
        for state in states:
            of = self.all[state]
            unit = "" if not of.unit else f"{of.unit}2" if of.unit.endswith("/s") else f"{of.unit}/s"
            rows.append(
                {"name": f"der({of.name})", "unit": unit, "doc": f"time derivative of {of.name}", "derivative_of": state}
            )
        self._add("DERIVATIVES", "time derivatives of the states", rows, causality="local", variability="continuous")

    def _outputs(self) -> None:
        common = {"causality": "output", "variability": "continuous"}
        rows: list[dict[str, str | int]] = [
            {"name": f"tip.{axis}", "unit": "m", "doc": "position of the tip, base frame"} for axis in AXES
        ]
        rows += [
            {"name": f"tip.R{i}{j}", "unit": "", "doc": "rotation of the tip, base frame: row, column"}
            for i in (1, 2, 3)
            for j in (1, 2, 3)
        ]
        self._add("TIP", "position of the tip, then its rotation matrix by rows", rows, **common)
        rows = [
            {"name": f"point.{name}.{axis}", "unit": "m", "doc": f"position of {name}, base frame"}
            for name in self._derivation.point_names
            for axis in AXES
        ]
        self._add("POINTS", "positions of all points", rows, **common)
        if self._derivation.frames:
            self._frames(common)
        rows = [{"name": "margin", "unit": "m", "doc": "distance from the nearest border of an element inside a sliding joint"}]
        self._add("MARGIN", "event indicator", rows if self._derivation.selectors else [], **(common | {"causality": "local"}))

    def _frames(self, common: dict[str, str]) -> None:
        """Return poses and velocities of the frames that the user chose."""
        frames = self._derivation.frames
        positions, rotations, velocities = FRAME_BLOCKS
        rows: list[dict[str, str | int]] = [
            {"name": f"frame.{name}.{axis}", "unit": "m", "doc": f"position of {name}, base frame"}
            for name in frames
            for axis in AXES
        ]
        self._add(positions, "positions of the chosen frames", rows, **common)
        rows = [
            {"name": f"frame.{name}.R{i}{j}", "unit": "", "doc": f"rotation of {name}, base frame: row, column"}
            for name in frames
            for i in (1, 2, 3)
            for j in (1, 2, 3)
        ]
        self._add(rotations, "their rotation matrices by rows", rows, **common)
        rows = [
            {"name": f"frame.{name}.{kind}.{axis}", "unit": unit, "doc": f"{kind} velocity of {name}, base components"}
            for name in frames
            for kind, unit in (("linear", "m/s"), ("angular", "rad/s"))
            for axis in AXES
        ]
        self._add(velocities, "their linear and angular velocities, base components", rows, **common)
