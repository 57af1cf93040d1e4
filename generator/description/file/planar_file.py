"""The ``planar:`` block of a robot file: paper 003's robots, one line per link, written out as ordinary links and joints.

    planar:
      links:
        - {joint: R, length: 0.8, mass_per_length: 0.353, EI: 0.169, elements: 5}
        - {joint: Pa, gamma: 0.7, length: 0.5, mass_per_length: 0.353, EI: 0.169, elements: 3}
      payload: {mass: 0.1}
      gravity: [0, -9.81]

The plane is x, y. ``joint`` is R (revolute), Pa (sliding along the previous link) or Pb (the link slides through a joint at the
tip of the previous one), as in paper 003, Table 2; before a rigid link or the base, Pa and Pb are prismatic joints.
Rigid links: ``rigid: true`` with mass and inertia about z of the middle of the link. Flexible links: mass and inertia of a hub.
``limits``, ``motor`` and ``friction`` are those of the joint.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, model_validator

from elastogen.generator.description.file.drive_file import FrictionSection, LimitsSection, MotorSection
from elastogen.generator.description.file.fields import ScalarField, Section, problem
from elastogen.generator.description.file.flexible_file import DampingSection, PropertySection
from elastogen.generator.robot.location import Location, did_you_mean

JOINTS = ("R", "Pa", "Pb")
_FLEXIBLE = ("mass_per_length", "EI", "elements")


class PlanarLink(Section):
    """A link and the joint that carries it."""

    joint: str = Field(description="R, Pa or Pb")
    length: ScalarField | None = Field(default=None, description="[m]")
    gamma: ScalarField | None = Field(default=None, description="Pa, Pb: angle to the previous link [rad]")
    rigid: bool = False
    mass_per_length: PropertySection | None = Field(default=None, description="[kg/m]")
    EI: PropertySection | None = Field(default=None, description="[N m^2]")
    elements: int | None = Field(default=None, description="1 to 200, at least 2 for Pb")
    mass: ScalarField = Field(default=0, description="of the rigid link, or of the hub [kg]")
    inertia: ScalarField = Field(default=0, description="of the rigid link about its middle, or of the hub [kg m^2]")
    slide: Literal["smooth", "nodal"] = "smooth"
    foreshortening: bool = False
    degree: Literal[3, 5] = Field(default=3, description="of the elements' polynomials")
    reduce_to: int | None = None
    damping: DampingSection | None = None
    limits: LimitsSection = LimitsSection()
    motor: MotorSection = MotorSection()
    friction: FrictionSection = FrictionSection()

    @model_validator(mode="after")
    def _complete(self) -> PlanarLink:
        if self.joint not in JOINTS:
            raise problem(f"a joint {', '.join(JOINTS)}", did_you_mean(self.joint, JOINTS, "use R, Pa or Pb"))
        if self.length is None:
            raise problem("the length of the link [m]", "add length")
        if self.joint != "R" and self.gamma is None:
            raise problem(f"the angle gamma of a {self.joint} joint [rad]", "add gamma: 0 for links in line")
        if self.joint == "R" and self.gamma is not None:
            raise problem("no gamma: the angle of a revolute joint is its coordinate", "remove gamma")
        given = [key for key in _FLEXIBLE if getattr(self, key) is not None]
        if self.rigid and given:
            raise problem(f"no {given[0]} for a rigid link", f"remove {given[0]}, or rigid: true")
        if not self.rigid and len(given) < len(_FLEXIBLE):
            missing = next(key for key in _FLEXIBLE if key not in given)
            raise problem(f"{missing} of a flexible link", f"add {missing}, or rigid: true with mass and inertia")
        return self


class PlanarPayload(Section):
    """A body on the tip."""

    mass: ScalarField = 0
    inertia: ScalarField = Field(default=0, description="about z [kg m^2]")


class PlanarSection(Section):
    """A robot in the plane x, y."""

    links: tuple[PlanarLink, ...] = Field(min_length=1)
    payload: PlanarPayload = PlanarPayload()
    gravity: tuple[ScalarField, ScalarField] = (0, 0)


def expand_planar(data: Mapping[str, Any], where: Location) -> Mapping[str, Any]:
    """Return the file with ordinary links and joints in place of its (checked) ``planar:`` block."""
    doubled = [key for key in ("links", "joints", "gravity", "payload", "tip") if key in data]
    if doubled:
        raise where.at(doubled[0]).error(
            doubled[0], f"no {doubled[0]} beside planar", f"describe the {doubled[0]} inside planar"
        )
    raw = data["planar"]
    gx, gy = raw.get("gravity", (0, 0))
    payload = raw.get("payload", {})
    links: list[dict[str, Any]] = [{"name": "base"}]
    joints: list[dict[str, Any]] = []
    previous: Mapping[str, Any] | None = None
    for number, link in enumerate(raw["links"], start=1):
        links.append(_link(link, f"link{number}"))
        joints.append(_joint(link, previous, number))
        previous = link
    assert previous is not None
    tip = {"link": links[-1]["name"]}
    if previous.get("rigid"):
        tip["xyz"] = [previous["length"], 0, 0]
    rest = {key: value for key, value in data.items() if key != "planar"}
    return {
        **rest,
        "gravity": [gx, gy, 0],
        "links": links,
        "joints": joints,
        "tip": tip,
        "payload": {"mass": payload.get("mass", 0), "inertia": _about_z(payload.get("inertia", 0))},
    }


def _link(link: Mapping[str, Any], name: str) -> dict[str, Any]:
    body = {"name": name, "mass": link.get("mass", 0), "inertia": _about_z(link.get("inertia", 0))}
    if link.get("rigid"):
        return {**body, "com": [f"({link['length']})/2", 0, 0], "accept_unphysical_inertia": True}
    keys = ("length", "mass_per_length", "EI", "elements", "degree", "foreshortening", "reduce_to", "damping")
    return {**body, "flexible": {"type": "elements", **{key: link[key] for key in keys if key in link}},
            "accept_unphysical_inertia": True}  # fmt: skip


def _about_z(moment: Any) -> list[list[Any]]:
    return [[0, 0, 0], [0, 0, 0], [0, 0, moment]]


def _joint(link: Mapping[str, Any], previous: Mapping[str, Any] | None, number: int) -> dict[str, Any]:
    rigid_parent = previous is None or bool(previous.get("rigid"))
    end = previous["length"] if previous is not None and rigid_parent else 0  # of a flexible link: its tip frame
    drive = {key: link[key] for key in ("limits", "motor", "friction") if key in link}
    joint = {"name": f"joint{number}", "child": f"link{number}", **drive}
    gamma = link.get("gamma", 0)
    if link["joint"] == "R":
        return {**joint, "type": "revolute", "placement": {"xyz": [end, 0, 0]}}
    if link["joint"] == "Pa":
        if not rigid_parent:
            return {**joint, "type": "sliding", "gamma": gamma, "slide": link.get("slide", "smooth")}
        return {**joint, "type": "prismatic", "axis": [1, 0, 0], "gamma": gamma}
    if not link.get("rigid"):
        slide = link.get("slide", "smooth")
        return {**joint, "type": "telescopic", "gamma": gamma, "slide": slide, "placement": {"xyz": [end, 0, 0]}}
    # R(gamma) T(d - l): the joint's zero is l behind the end of the parent
    back = [f"({end})-({link['length']})*cos({gamma})", f"-({link['length']})*sin({gamma})", 0]
    return {**joint, "type": "prismatic", "axis": [1, 0, 0], "placement": {"xyz": back, "rpy": [0, 0, gamma]}}
