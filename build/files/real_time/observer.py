"""The observer of a loop: which robots can have one, and the C that reads its sensors."""

from __future__ import annotations

from elastogen.generator.functions.derivation import ESTIMATION
from elastogen.generator.functions.function import ModelFacts
from elastogen.generator.robot.robot import Robot
from elastogen.generator.sliding.elements_inside import selectors

VECTORS = ("q", "qd", "F")
RATE = ".rate"  # how names of tachometers' readings end


def can_be_observed(robot: Robot) -> bool:
    """Whether a loop of the robot can have an observer: it has sensors, and one position number for each velocity."""
    return bool(robot.sensors) and not (robot.loops or robot.quaternions or selectors(robot))


def is_observed(derivation: ModelFacts) -> bool:
    """Whether the robot can have an observer and the functions that it needs were derived."""
    return can_be_observed(derivation.robot) and {function.name for function in derivation.functions} >= {*ESTIMATION}


def readings_text(derivation: ModelFacts) -> str:
    """Return C of the sample robot: the places of readings in the loop's input, and their simulation."""
    names, velocities = derivation.coordinate_names, derivation.velocity_names
    places = []
    for channel in derivation.robot.sensors:
        joint = channel.name.removesuffix(RATE)
        if channel.name in names:
            places.append(names.index(channel.name))
        elif joint != channel.name and joint in velocities:
            places.append(len(names) + velocities.index(joint))
        else:
            places.append(-1)
    function = next(function for function in derivation.functions if function.name == "measurement")
    taken = [argument.name for argument in function.inputs]
    call = f"robot_measurement(p, {', '.join((*taken, 'y'))});"
    unused = [f"    (void){name};" for name in VECTORS if name not in taken]
    lines = [
        "/* Where a reading stands in (q, qd) as they are read; -1: elsewhere. */",
        f"static const short robot_loop_encoder[ROBOT_READINGS] = {{{', '.join(map(str, places))}}};",
        "",
        "static int robot_loop_measure(const robot_params_t *p, const robot_real_t *q, const robot_real_t *qd,",
        "    const robot_real_t *F, robot_real_t *y)",
        "{",
        *unused,
        *([f"    return {call}"] if function.can_fail else [f"    {call}", "    return 0;"]),
        "}",
        "",
    ]
    return "\n".join(lines)
