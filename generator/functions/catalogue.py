"""An entry of the catalogue: a function's name, inputs, outputs, and its derivation from a frame assignment."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import TypeAlias, TypeVar

from elastogen.generator.functions.variants import Variant
from elastogen.generator.program.arguments import input_argument
from elastogen.generator.program.columns import Columns
from elastogen.generator.program.graph import Value
from elastogen.generator.robot.robot import Robot
from elastogen.runtime.interface.argument import Argument

Outputs: TypeAlias = Callable[[Variant], tuple[Argument, ...]]
OwnInputs: TypeAlias = "Mapping[str, Argument] | Callable[[Variant], Mapping[str, Argument]]"


@dataclass(frozen=True)
class Derived:
    """The values of all outputs, one flat list for each, and the pivots that must be positive."""

    outputs: tuple[Sequence[Value], ...]
    pivots: Sequence[Value] = ()
    looped: Looped | None = None  # the same for single states


@dataclass(frozen=True)
class Looped:
    """The same values, with loops for columns of one pattern: see program/columns.py."""

    outputs: tuple[Sequence[Value], ...]
    pivots: Sequence[Value]
    columns: tuple[Columns, ...]


Formulation: TypeAlias = Callable[[Variant], Derived]


@dataclass(frozen=True)
class Entry:
    """One function: all its ``formulations`` give the same result, and the cheapest is kept.

    ``frame_assignment`` names the family of variants: "plain" (the user's frames and parameters), "kinematic" (the user's
    frames) or "dynamic" (any frames and base parameters). With ``explore`` all of them are tried, else the best one for
    inverse dynamics or forward kinematics is used. Common factors are taken out of the best ``finalists`` only. ``largest``
    limits the search: beyond that many coordinates only the first formulation and the best frame assignment are tried.
    ``formulations_for`` chooses the formulations by the mechanism instead. ``any_moment`` are formulations that do not
    depend on how moments are formed: one of several frame assignments that differ only in that is enough.
    """

    name: str
    brief: str
    inputs: tuple[str, ...]
    outputs: Outputs
    formulations: tuple[Formulation, ...]
    frame_assignment: str
    explore: bool = False
    finalists: int = 2
    largest: int = 10
    default: bool = True
    applies: Callable[[Robot], bool] = lambda robot: True
    applies_to: str = "every robot"
    formulations_for: Callable[[Variant], tuple[Formulation, ...]] | None = None
    any_moment: tuple[Formulation, ...] = ()
    own_inputs: OwnInputs = field(default_factory=dict)  # inputs that no other function has, by name

    def first_formulation(self, variant: Variant) -> Formulation:
        """The first formulation; with loops, the first that keeps them closed."""
        if self.formulations_for is None or not variant.robot.loops:
            return self.formulations[0]
        return self.formulations_for(variant)[0]

    def own_inputs_for(self, variant: Variant) -> Mapping[str, Argument]:
        """The inputs that no other function has, by name."""
        return self.own_inputs(variant) if callable(self.own_inputs) else self.own_inputs

    def input_arguments(self, variant: Variant, used: Container[str]) -> list[Argument]:
        """The inputs; where the entry lists none those that are used."""
        framed = self.frame_assignment in ("frames", "loaded")
        pointed = framed or self.frame_assignment in ("points", "physical")
        points, per = len(variant.pointed.points) if pointed else 0, "chosen frame" if framed else "point"
        names = self.inputs or (("q",) if variant.depends_on_elements or "q" in used else ())  # tangents of own terms
        own = self.own_inputs_for(variant)
        return [own.get(name) or input_argument(name, variant.positions, variant.size, points, per) for name in names]


def flat(rows: Sequence[Sequence[Value]]) -> list[Value]:
    """The elements of a matrix, row by row."""
    return [value for row in rows for value in row]


Result = TypeVar("Result")


def unless_sheared(
    alternative: Callable[[Variant], Result],
) -> Callable[[Callable[[Variant], Result]], Callable[[Variant], Result]]:
    """A formulation for orthogonal frames; where linear tips (000 (66)) shear them, ``alternative`` replaces it."""

    def decorate(formulation: Callable[[Variant], Result]) -> Callable[[Variant], Result]:
        @wraps(formulation)
        def chosen(variant: Variant) -> Result:
            return (alternative if variant.mechanism.has_linear_tips else formulation)(variant)

        return chosen

    return decorate


def unless_closed(
    alternative: Callable[[Variant], Result],
) -> Callable[[Callable[[Variant], Result]], Callable[[Variant], Result]]:
    """A formulation for trees; for a robot with loops ``alternative`` replaces it."""

    def decorate(formulation: Callable[[Variant], Result]) -> Callable[[Variant], Result]:
        @wraps(formulation)
        def chosen(variant: Variant) -> Result:
            return (alternative if variant.robot.loops else formulation)(variant)

        return chosen

    return decorate
