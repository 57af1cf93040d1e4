"""The C files that close the loops of a robot: its independent rows, and weights of its velocities."""

from __future__ import annotations

from elastogen.build.files.contexts import Identity
from elastogen.build.files.templating import origin
from elastogen.build.plain_c.emission import Emission
from elastogen.generator.functions.derivation import KEEPING
from elastogen.generator.functions.function import ModelFacts

EXPLICIT = "closed_configuration"
STIFF = 1e-8  # weight of elastic coordinates: joints close loops, links bend only where they must


def loop_files(derivation: ModelFacts, identity: Identity) -> dict[str, str]:
    """Return header and source; none if the functions of the loops, or of quaternions, were not emitted."""
    known, functions = derivation.loops, {function.name for function in derivation.functions}
    needed = {*KEEPING, *(("integrate",) if derivation.robot.has_quasi_velocities else ())}
    if known is None or not needed <= functions:
        return {}
    rows = sorted(pivot.row for pivot in known.choice.pivots)
    weights = ", ".join(f"REAL({STIFF if elastic else 1.0!r})" for elastic in derivation.elastic_coordinates)
    independent = ", ".join(f"{int(k in known.choice.independent)}u" for k in range(len(derivation.velocity_names)))
    tables = (
        f"static const int robot_loop_rows[{len(rows)}] = {{{', '.join(map(str, rows))}}}; /* independent ones */\n"
        f"static const robot_real_t robot_loop_weights[{len(derivation.elastic_coordinates)}] = {{{weights}}};\n"
    )
    if EXPLICIT in functions:
        tables += f"static const unsigned char robot_loop_independent[{len(derivation.velocity_names)}] = {{{independent}}};\n"
    features = {
        "QUATERNIONS": len(derivation.robot.quaternions),
        "SINGLE": int(identity.real == "float"),
        "LOOPS": len(rows),
        "LOOP_ROWS": len(known.rows),
        "TWO_LINKS": int(EXPLICIT in functions),
    }
    emission = Emission(identity.name, identity.real, features, origin(identity), {"robot_loop_tables.h": tables})
    return {f"{identity.name}_loops.{kind}": emission.file(f"loops/robot_loops.{kind}") for kind in ("h", "c")}
