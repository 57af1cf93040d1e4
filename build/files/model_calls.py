"""Calls of a model's functions by integrators and other C files, whose precision may differ from the model's."""

from __future__ import annotations

from dataclasses import dataclass

from elastogen.build.c.elements import in_name
from elastogen.build.files.contexts import Prototype, SimulationArgument, SimulationCall
from elastogen.build.files.templating import fill
from elastogen.generator.functions.function import Signature


@dataclass(frozen=True)
class CallsContext:
    """For ``shared/calls.c.j2``."""

    calls: tuple[SimulationCall, ...]
    converts: bool


def model_call(function: Signature, user: str, sliding: int, holder: str = "", *, finds: bool = False) -> SimulationCall:
    """A call by the C file ``robot_<user>`` of the sample robot; with sliding joints, for given elements inside them.

    ``finds``: the function finds these elements itself.
    """
    given_elements = bool(function.selectors) and not finds
    inputs = tuple(SimulationArgument(argument.name, argument.size) for argument in function.inputs)
    outputs = tuple(SimulationArgument(argument.name, argument.size) for argument in function.outputs)
    if holder:  # a struct with the parameters and the elements
        parameters = [f"const {holder} *{user}"]
        place = f"{user}->"
    else:
        parameters, place = ["const robot_params_t *p", *(["const int *k"] if sliding and not finds else [])], ""
    live = f"&{place}p" if holder else "p"
    parameters += [f"const robot_scalar_t *{argument.name}" for argument in inputs]
    parameters += [f"robot_scalar_t *{argument.name}" for argument in outputs]
    return SimulationCall(
        prototype=Prototype("int", f"robot_{user}_call_{function.name}", tuple(parameters)),
        symbol=f"robot_{in_name(function) if given_elements else function.name}",
        function=function.name,
        inputs=inputs,
        outputs=outputs,
        can_fail=function.can_fail,
        takes_elements=bool(sliding) and not (holder or finds),
        for_elements=given_elements,
        given=f"{live}, {place}k" if given_elements else live,
    )


def calls_text(calls: tuple[SimulationCall, ...], *, converts: bool) -> str:
    """Return the calls as static functions of the sample robot; ``converts``: the model has another precision."""
    return fill("shared/calls.c.j2", CallsContext(calls, converts)) if calls else ""
