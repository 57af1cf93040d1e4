"""Dampers of single modes: forces sign v (v . rates), as robot.FlexibleBody.damping_parts has them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from elastogen.generator.program.graph import Graph, Value

ModalDampers: TypeAlias = "list[tuple[int, list[tuple[int, Value]]]]"
"""Signs, and vectors v by the coordinates where they are not zero."""


def modal_dampers(graph: Graph, modal: Iterable[tuple[int, Sequence[float]]], coordinates: Sequence[int]) -> ModalDampers:
    """The dampers of a body with these coordinates."""
    return [
        (sign, [(k, graph.value(entry)) for k, entry in zip(coordinates, vector, strict=True) if entry != 0])
        for sign, vector in modal
    ]


def add_modal_forces(forces: list[Value], dampers: ModalDampers, rates: Sequence[Value]) -> None:
    """Add their forces: two short products for each, in place of one with a full matrix."""
    for sign, vector in dampers:
        rate = rates[0].graph.value(0)
        for k, entry in vector:
            rate = rate + entry * rates[k]
        for k, entry in vector:
            forces[k] = forces[k] + sign * (entry * rate)
