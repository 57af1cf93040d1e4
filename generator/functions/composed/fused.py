"""Several functions at one state as one, which computes once what they share, above all the kinematics."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from elastogen.generator.functions.catalogue import Derived, Entry, Formulation
from elastogen.generator.functions.variants import Variant
from elastogen.generator.program.arguments import MOTION
from elastogen.generator.robot.errors import OutputError
from elastogen.runtime.interface.argument import Argument

MARK = "+"  # between the names of functions: "mass_matrix+gravity_vector"
ASSIGNMENTS = {
    "dynamic": 0,
    "kinematic": 1,
    "plain": 1,
    "physical": 2,
}  # frame assignments that can be fused; the later one serves both


def fused_name(name: str) -> str:
    """The name in C of ``mass_matrix+gravity_vector``."""
    return name.replace(MARK, "_and_")


def fused_entry(entries: Sequence[Entry]) -> Entry:
    """One entry of the catalogue for several: all their inputs, then all their outputs, in the order given."""
    name = MARK.join(entry.name for entry in entries)
    if len(entries) < 2 or len({entry.name for entry in entries}) < len(entries):
        raise OutputError(f"fused: got {name!r}, expected two different functions or more. Fix: name each of them once")
    inside = any(
        entry.frame_assignment == "physical" for entry in entries
    )  # forces inside go with what is indifferent to frames
    served = ("physical", "dynamic") if inside else tuple(ASSIGNMENTS)
    refused = [entry.name for entry in entries if entry.frame_assignment not in served]
    if refused:
        raise OutputError(f"fused: got {refused[0]!r}, which has frames of its own, expected functions of the robot's frames")
    inputs = {given for entry in entries for given in entry.inputs}
    order = [*(given for given in MOTION if given in inputs), *sorted(inputs - set(MOTION))]

    largest_first = sorted(range(len(entries)), key=lambda k: -len(entries[k].inputs))

    def outputs(variant: Variant) -> tuple[Argument, ...]:
        found = tuple(argument for entry in entries for argument in entry.outputs(variant))
        names = [argument.name for argument in found]
        twice = sorted({each for each in names if names.count(each) > 1 or each in inputs})
        if twice:
            raise OutputError(f"fused: {name} has {twice[0]} twice. Fix: fuse functions whose arguments have different names")
        return found

    def together(formulations: Sequence[Formulation]) -> Formulation:
        def derive(variant: Variant) -> Derived:
            found = {k: formulations[k](variant) for k in largest_first}
            parts = [found[k] for k in range(len(formulations))]
            return Derived(tuple(o for part in parts for o in part.outputs), [p for part in parts for p in part.pivots])

        return derive

    return Entry(
        name=fused_name(name),
        brief=f"At one state: {', '.join(entry.name for entry in entries)}.",
        inputs=tuple(order),
        outputs=outputs,
        formulations=tuple(together(formulations) for formulations in product(*(entry.formulations for entry in entries))),
        frame_assignment=max((entry.frame_assignment for entry in entries), key=ASSIGNMENTS.__getitem__),
        explore=True,
        default=False,
        finalists=max(entry.finalists for entry in entries),
    )
