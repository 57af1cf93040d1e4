"""How a state continues where the element inside a sliding joint changes: data for the emitted C."""

from __future__ import annotations

import numpy as np

from elastogen.build.c.expression import literal
from elastogen.build.c.names import comment_text
from elastogen.build.files.contexts import Identity, Prototype, SwitchContext
from elastogen.build.files.model_calls import calls_text, model_call
from elastogen.build.files.templating import fill, origin
from elastogen.build.plain_c.emission import Emission
from elastogen.generator.functions.function import ModelFacts
from elastogen.generator.joints.on_beams.selector import Selector, Threshold

JUMPING = "mass_matrix"
"""The function that is needed where the mass matrix jumps at a border."""
ENERGIES = ("kinetic_energy", "potential_energy")
NUMBERS = {"robot_sim_choice_t": "int", "robot_sim_place_t": "int"}
"""What comparisons of scalars give, and rows of matrices."""
RULES = {
    "keep": "positions and velocities go on",
    "refract": "energy and the momenta along the border go on",
    "clamp": "deflections and slopes of the new element vanish, all else goes on",
}


def switch_context(derivation: ModelFacts, identity: Identity) -> SwitchContext | None:
    """Return the context of the switch; None without sliding joints, or without a mass matrix that is needed."""
    selectors = derivation.selectors
    functions = {function.name: function for function in derivation.functions}
    refracts = any(_changes(selector) and selector.passage == "refract" for selector in selectors)
    if not selectors or (refracts and JUMPING not in functions):
        return None
    name, nq, count = identity.name, len(derivation.coordinate_names), len(selectors)
    has_energies = all(energy in functions for energy in ENERGIES)
    called = (*((JUMPING,) if refracts else ()), *(ENERGIES if has_energies else ()))
    prefix = f"{name}_switch"
    k, q, qd = f"int k[{count}]", f"double q[{nq}]", f"double qd[{nq}]"
    borders, joints = _tables(selectors, identity.real)

    def switch(symbol: str, parameters: str, prefix: str) -> Prototype:
        return Prototype("int", symbol, (parameters, k, q, qd, f"{prefix}_t *report", f"{prefix}_work_t *work"))

    return SwitchContext(
        identity=identity,
        prefix=prefix,
        macro=prefix.upper(),
        nq=nq,
        sliding=count,
        rules=tuple(f"{comment_text(s.joint)}: {_rule(s)}" for s in selectors),
        borders=borders,
        joints=joints,
        refracts=refracts,
        has_energies=has_energies,
        calls=tuple(model_call(functions[function], "switch", count) for function in called),
        elements=Prototype("int", f"{prefix}_elements", (f"const {q}", k)),
        margin=Prototype("double", f"{prefix}_margin", (f"const {k}", f"const {q}")),
        hold=Prototype("void", f"{prefix}_hold", (f"const {k}", q, qd)),
        switch=switch(prefix, f"const {name}_params_t *p", prefix),
        module_switch=switch("eg_switch", "const eg_real_t *params", "eg_switch"),
    )


def _changes(selector: Selector) -> bool:
    return bool(selector.thresholds)


def _rule(selector: Selector) -> str:
    return RULES[selector.passage] if _changes(selector) else "no borders but the ends of its range"


def _tables(selectors: tuple[Selector, ...], real: str) -> tuple[tuple[tuple[str, ...], ...], tuple[tuple[str, ...], ...]]:
    """Return initializers of all borders, including the ends of the ranges, and of the joints."""
    passages = {"keep": 0, "refract": 1, "clamp": 2}
    borders: list[tuple[str, ...]] = []
    joints: list[tuple[str, ...]] = []
    for selector in selectors:
        own = ((selector.coordinate, 1.0),)
        fields = (len(borders), len(selector.thresholds), selector.first, selector.step, passages[selector.passage])
        joints.append((*map(str, fields), str(selector.nodes), str(int(selector.positive))))
        thresholds = (Threshold(own, 0.0), *selector.thresholds, Threshold(own, selector.upper))
        borders += [_border(threshold, real) for threshold in thresholds]
    return tuple(borders), tuple(joints)


def _border(threshold: Threshold, real: str) -> tuple[str, ...]:
    """Print a border; its number is that of the model's own precision, so that both choose the same elements."""
    (first, weight), *others = threshold.terms
    second, other = others[0] if others else (first, 0.0)
    numbers = np.array((threshold.bound, weight, other), dtype=np.float32 if real == "float" else np.float64)
    return (*(f"REAL({literal(float(x), 'double')})" for x in numbers), str(first), str(second))


def switch_emission(context: SwitchContext, real: str) -> Emission:
    """Return the emission of the switch's C files, which may have another precision than the model."""
    energies = int(context.has_energies)
    features = {
        "SLIDING": context.sliding,
        "REFRACTS": int(context.refracts),
        "LANES": 0,
        "HAS_KINETIC_ENERGY": energies,
        "HAS_POTENTIAL_ENERGY": energies,
    }
    generated = {
        "robot_switch_tables.h": fill("switch/tables.h.j2", context),
        "robot_switch_calls.h": calls_text(context.calls, converts=context.identity.real != real),
        "robot_sim_numbers.h": "",
    }
    return Emission(
        context.identity.name, real, features, origin(context.identity), generated, NUMBERS | {"robot_sim_state_t": real}
    )


def switch_files(context: SwitchContext, *, single: bool) -> dict[str, str]:
    """Return header and source of the switch between elements in double, or in float around a model in float."""
    emission = switch_emission(context, "float" if single else "double")
    return {f"{context.prefix}.{kind}": emission.file(f"switch/robot_switch.{kind}") for kind in ("h", "c")}
