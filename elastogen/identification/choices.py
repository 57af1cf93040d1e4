"""What can be estimated, by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from elastogen.generator.robot.location import did_you_mean
from elastogen.identification.errors import IdentificationError

KINDS = {
    "inertia": "mass, centre of mass and inertia of every link",
    "viscous": "viscous friction",
    "coulomb": "Coulomb friction",
    "width": "how slowly Coulomb friction turns round: the width of its smoothed sign",
    "offset": "a force at any velocity: bias of sensors",
    "stribeck": "Stribeck friction and its velocity",
    "asymmetric": "viscous and Coulomb friction of either direction",
    "load": "Coulomb friction that grows with the load of the drive",
    "spring": "a force that grows with position: hoses and cables, springs beside a joint",
    "rotor": "inertia of the rotors",
    "gains": "force per ampere of the drives, as a factor to what was given; needs a prior or a known payload",
    "payload": "mass, centre of mass and inertia of the payload",
}
"""Names for ``parameters=``, and what they stand for."""
SETS = {
    "default": ("inertia", "viscous", "coulomb", "offset", "rotor"),
    "friction": ("viscous", "coulomb", "offset"),
    "all": ("inertia", "viscous", "coulomb", "width", "offset", "stribeck", "load", "rotor"),
}
SUPPORTED = ("width", "load", "stribeck", "spring")
"""What ``default`` adds where the data support it."""
FRICTION = ("viscous", "coulomb", "width", "offset", "stribeck", "asymmetric", "load")


@dataclass(frozen=True)
class Choice:
    """The kinds of parameters to estimate."""

    kinds: tuple[str, ...]
    maybe: tuple[str, ...] = ()  # kinds that are added where the data support them
    joints: Mapping[str, frozenset[int]] = field(default_factory=dict)  # of a kind that data support: the drives that have it

    def __contains__(self, kind: str) -> bool:
        return kind in self.kinds

    @property
    def bodies(self) -> bool:
        """Whether inertial parameters of bodies are among them."""
        return "inertia" in self or "payload" in self

    def of_joint(self, kind: str, joint: int) -> bool:
        """Whether the kind is estimated for that drive."""
        return kind in self.kinds and joint in self.joints.get(kind, (joint,))

    def also(self, kind: str, joints: Iterable[int]) -> Choice:
        """The choice with one of the kinds that data may support, for some drives."""
        kinds, maybe = (k for k in KINDS if k in (*self.kinds, kind)), (k for k in self.maybe if k != kind)
        return Choice(tuple(kinds), tuple(maybe), {**self.joints, kind: frozenset(joints)})

    def linear(self) -> Choice:
        """The kinds that forces are linear in: quick to estimate, and enough to compare motions."""
        return Choice(tuple(kind for kind in self.kinds if kind not in ("width", "load", "stribeck", "gains")) or self.kinds)

    def without(self, kind: str, joints: Iterable[int]) -> Choice:
        """The choice in which these drives do not have a kind that data supported before."""
        rest = self.joints[kind] - frozenset(joints)
        kinds = self.kinds if rest else tuple(k for k in self.kinds if k != kind)
        return Choice(
            kinds, self.maybe, {**{k: v for k, v in self.joints.items() if k != kind}, **({kind: rest} if rest else {})}
        )


def choose(parameters: str | Iterable[str]) -> Choice:
    """Names of kinds and of sets."""
    names = [parameters] if isinstance(parameters, str) else list(parameters)
    found: dict[str, None] = {}
    for name in names:
        if not isinstance(name, str) or name not in (*KINDS, *SETS):
            fix = did_you_mean(name, (*KINDS, *SETS), f"the names are {', '.join((*KINDS, *SETS))}")
            raise IdentificationError("parameters", repr(name), "what can be estimated", fix)
        found |= dict.fromkeys(SETS.get(name, (name,)))
    if not found:
        raise IdentificationError("parameters", "none", "at least one name", f"the names are {', '.join((*KINDS, *SETS))}")
    if "inertia" in found and "payload" in found:
        raise IdentificationError(
            "parameters", "inertia and payload", "one of them: a payload cannot be distinguished from the link that carries it",
            "estimate the empty robot first, then the payload with what was written",
        )  # fmt: skip
    if found.keys() & {"width", "stribeck", "load"}:
        found |= {"coulomb": None}
    maybe = tuple(kind for kind in SUPPORTED if "default" in names and kind not in found)
    return Choice(tuple(kind for kind in KINDS if kind in found), maybe)
