"""The directional derivative of any function of the catalogue: how its outputs change along a change of all its inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from elastogen.generator.functions.catalogue import Derived, Entry, Formulation
from elastogen.generator.functions.variants import Variant
from elastogen.generator.program.arguments import input_argument
from elastogen.generator.program.differentiate import directional
from elastogen.runtime.interface.argument import Argument

ENDING = "_tangent"  # of the name: "forward_dynamics_tangent"


def differentiated(name: str, known: Mapping[str, Entry]) -> str | None:
    """The function whose tangent a name means; None if it is not a tangent."""
    base = name.removesuffix(ENDING)
    return base if base != name and name not in known and base in known and known[base].inputs else None


def tangent_entry(entry: Entry) -> Entry:
    """The entry of a function's tangent: the inputs, a change of each, and the resulting change of each output.

    The change of q has nq numbers, one for each coordinate: those of a quaternion count one by one.
    """
    choose = entry.formulations_for
    return replace(
        entry,
        name=entry.name + ENDING,
        brief=f"How {entry.name} changes to first order along a change of its inputs.",
        inputs=(*entry.inputs, *(f"d{name}" for name in entry.inputs)),
        outputs=lambda variant: tuple(_change(argument) for argument in entry.outputs(variant)),
        formulations=tuple(_along(entry, formulation) for formulation in entry.formulations[:1]),
        formulations_for=None
        if choose is None
        else lambda variant: tuple(_along(entry, formulation) for formulation in choose(variant)[:1]),
        explore=False,
        default=False,
    )


def _change(argument: Argument) -> Argument:
    return replace(argument, name=f"d{argument.name}", doc=f"change of: {argument.doc}")


def _along(entry: Entry, formulation: Formulation) -> Formulation:
    def derive(variant: Variant) -> Derived:
        derived, graph = formulation(variant), variant.graph
        points = len(variant.pointed.points) if entry.frame_assignment in ("points", "physical", "frames", "loaded") else 0
        seeds: dict[int, int] = {}
        for name in entry.inputs:
            argument = input_argument(name, variant.positions, variant.size, points)
            change = replace(argument, name=f"d{name}")
            for index in range(argument.size):
                seeds[graph.input(argument.element(index)).ref >> 1] = graph.input(change.element(index)).ref
        return Derived(tuple(directional(graph, values, seeds) for values in derived.outputs), derived.pivots)

    return derive
