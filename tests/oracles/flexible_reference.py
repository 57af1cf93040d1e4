"""The chains of data/flexible_chains.json as robots: beam links by polynomial modes with point masses at their tips.

In that file a joint is placed in the tip frame of the link before: the beam's tip, or the "tip" point of a rigid link.
"""

import json
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType

from elastogen.generator.beams.integrals import Beam, Mode, beam_body
from elastogen.generator.beams.piecewise import Curve, as_fraction
from elastogen.generator.joints import kinds
from elastogen.generator.robot.robot import IDENTITY, ZERO3, Body, Joint, Link, Robot

CASES = json.loads((Path(__file__).parents[1] / "data" / "flexible_chains.json").read_text())["cases"]
POWERS = MappingProxyType({f"(x/L)**{n}": n for n in range(2, 9)})
TIPS = MappingProxyType({"linear": "linear", "exp": "exponential"})


def constant(value):
    return Curve.polynomial((as_fraction(float(value)),))


def power(n):
    return Curve.polynomial((0,) * n + (1,))


def beam_of(link, tip="exponential", **options):
    """The beam and the modes of a link of the file."""
    bending = constant(link["EI"])
    beam = Beam(
        Fraction(repr(link["length"])),
        constant(link["mass_per_length"]),
        {"y": bending, "z": bending},
        rotation=tip,
        **options,
    )
    counts = {"y": 0, "z": 0}
    modes = []
    for mode in link["modes"]:
        direction = mode["direction"]
        counts[direction] += 1
        modes.append(Mode(f"{direction}{counts[direction]}", direction, power(POWERS[mode["shape"]])))
    return beam, modes


def robot_of(case, tip="exponential", **options):
    """The robot of a case; ``tip`` is how tips rotate, ``options`` (foreshortening, ...) go to every beam."""
    links, joints = [Link("base")], []
    previous, offset = "base", IDENTITY
    for i, entry in enumerate(case["chain"], start=1):
        link, name = entry["link"], f"link{i}"
        joints.append(
            Joint(
                f"j{i}",
                kinds.KINDS[entry["joint"]],
                previous,
                name,
                axis=tuple(entry["axis"]),
                before=product(offset, entry["placement"]),
            )
        )
        if link["type"] == "rigid":
            inertia = tuple(tuple(row) for row in link["inertia_about_com"])
            links.append(Link(name, Body(link["mass"], tuple(link["com"]), inertia)))
            offset = translation(link["tip"])
        else:
            beam, modes = beam_of(link, tip, **options)
            tip_body = Body(link["tip_mass"], (0, 0, 0), ZERO3)
            links.append(Link(name, flexible=beam_body(beam, modes), tip_body=tip_body))
            offset = IDENTITY
        previous = name
    return Robot(
        name="chain",
        links=tuple(links),
        joints=tuple(joints),
        gravity=tuple(case["gravity"]),
        tip=previous,
        tool=offset,
    )


def translation(vector):
    x, y, z = vector
    return ((1, 0, 0, x), (0, 1, 0, y), (0, 0, 1, z), (0, 0, 0, 1))


def product(a, b):
    return tuple(tuple(sum(a[i][k] * b[k][j] for k in range(4)) for j in range(4)) for i in range(4))
