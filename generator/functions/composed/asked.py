"""What a composed function is compared with: its parts, or a derivative of another function."""

from __future__ import annotations

from collections.abc import Mapping

from elastogen.generator.functions.catalogue import Entry
from elastogen.generator.functions.composed.fused import MARK
from elastogen.generator.functions.composed.sensitivities import sensitivity_of
from elastogen.generator.functions.composed.tangents import ENDING as TANGENT
from elastogen.generator.functions.composed.tangents import differentiated
from elastogen.generator.functions.function import Function
from elastogen.generator.functions.variants import Variant
from elastogen.generator.reference.expected.registry import Asked
from elastogen.generator.sliding.elements_inside import INDICATORS


def asked_parts(name: str, known: Mapping[str, Entry], function: Function, variant: Variant) -> list[tuple[Asked, int]]:
    """The functions that it consists of, each with its number of outputs."""
    inputs = tuple(argument for argument in function.program.inputs if argument.name != INDICATORS)
    if MARK in name:
        return [(Asked(part, inputs), len(known[part].outputs(variant))) for part in name.split(MARK)]
    asked = Asked(name, inputs)
    if name not in known:
        found, base = sensitivity_of(name, known), differentiated(name, known)
        if found is not None:
            asked = Asked(name, inputs, *found)
        elif base is not None:
            asked = Asked(name, inputs, base, TANGENT)
    return [(asked, len(function.program.outputs))]
