"""What can be estimated, by name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from elastogen.generator.robot.location import did_you_mean
from elastogen.identification.errors import IdentificationError

KINDS = {
    "inertia": "mass, centre of mass and inertia of every link",
    "viscous": "viscous friction",
    "coulomb": "Coulomb friction",
    "offset": "a force at any velocity: bias of sensors",
    "stribeck": "Stribeck friction and its velocity",
    "asymmetric": "viscous and Coulomb friction of either direction",
    "load": "Coulomb friction that grows with the load of the drive",
    "rotor": "inertia of the rotors",
    "gains": "force per ampere of the drives, as a factor to what was given; needs a prior or a known payload",
    "payload": "mass, centre of mass and inertia of the payload",
}
"""Names for ``parameters=``, and what they stand for."""
SETS = {
    "default": ("inertia", "viscous", "coulomb", "offset", "rotor"),
    "friction": ("viscous", "coulomb", "offset"),
    "all": ("inertia", "viscous", "coulomb", "offset", "stribeck", "load", "rotor"),
}
SUPPORTED = ("load", "stribeck")
"""What ``default`` adds where the data support it."""
FRICTION = ("viscous", "coulomb", "offset", "stribeck", "asymmetric", "load")


@dataclass(frozen=True)
class Choice:
    """The kinds of parameters to estimate."""

    kinds: tuple[str, ...]
    maybe: tuple[str, ...] = ()  # kinds that are added where the data support them

    def __contains__(self, kind: str) -> bool:
        return kind in self.kinds

    @property
    def bodies(self) -> bool:
        """Whether inertial parameters of bodies are among them."""
        return "inertia" in self or "payload" in self

    def also(self, kind: str) -> Choice:
        """The choice with one of the kinds that data may support."""
        return Choice(tuple(k for k in KINDS if k in (*self.kinds, kind)), tuple(k for k in self.maybe if k != kind))


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
    if "stribeck" in found or "load" in found:
        found |= {"coulomb": None}
    maybe = tuple(kind for kind in SUPPORTED if "default" in names and kind not in found)
    return Choice(tuple(kind for kind in KINDS if kind in found), maybe)
