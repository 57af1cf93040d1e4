"""What a closed form can be asked for by name: its own quantities, and every function of the catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from elastogen.generator.functions.derivation import CATALOGUE
from elastogen.generator.robot.errors import OutputError
from elastogen.generator.robot.robot import Robot


@dataclass(frozen=True)
class Quantity:
    """How a result is called in a document: ``symbol`` in LaTeX, ``{i}`` and ``{o}`` being frame and axes."""

    symbol: str
    title: str
    per_frame: bool = False
    takes_frame: bool = False


#: Everything a :class:`ClosedForm` can derive, in the order of its document.
QUANTITIES: dict[str, Quantity] = {
    "transforms": Quantity(r"[T]_{{{i}}}^{{0}}", "Transformations to frame 0", True),
    "angular_velocities": Quantity(r"[\bar{{\omega}}]_{{{i}}}^{{{o}}}", "Angular velocities", True, True),
    "linear_velocities": Quantity(r"[\bar{{v}}]_{{{i}}}^{{{o}}}", "Linear velocities", True, True),
    "angular_accelerations": Quantity(r"[\bar{{\varepsilon}}]_{{{i}}}^{{{o}}}", "Angular accelerations", True, True),
    "linear_accelerations": Quantity(r"[\bar{{a}}]_{{{i}}}^{{{o}}}", "Linear accelerations", True, True),
    "jacobian": Quantity(r"J^{{0}}", "Jacobian of the tip in frame 0, linear rows first"),
    "jacobian_tip": Quantity(r"J^{{tip}}", "Jacobian of the tip in the tip frame"),
    "jacobian_rate": Quantity(r"\dot{{J}}^{{0}}", "Rate of the Jacobian in frame 0"),
    "jacobian_tip_rate": Quantity(r"R^{{T}}\dot{{J}}^{{0}}", "Rate of the Jacobian, projected on the tip frame"),
    "mass_matrix": Quantity("M", "Mass matrix"),
    "coriolis_matrix": Quantity("C", "Coriolis matrix (Christoffel symbols)"),
    "coriolis_vector": Quantity(r"C\dot{{q}}", "Coriolis and centrifugal forces"),
    "gravity_vector": Quantity("G", "Gravity forces"),
    "kinetic_energy": Quantity(r"E_{{C}}", "Kinetic energy"),
    "potential_energy": Quantity(r"V", "Potential energy"),
    "inverse_dynamics": Quantity("F", "Generalized driving forces"),
}


def quantity(name: str) -> Quantity:
    """The quantity of that name."""
    if name not in QUANTITIES:
        raise OutputError(f"no closed form is called {name!r}, expected one of {', '.join(QUANTITIES)}.")
    return QUANTITIES[name]


def is_function(robot: Robot, name: str) -> bool:
    """Whether the name is that of a function, of the catalogue or the robot's own, and of no quantity."""
    return name not in QUANTITIES and (name in CATALOGUE or any(own.name == name for own in robot.functions))


def named_outputs(name: str, outputs: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The results of a function with LaTeX names: matrices and expressions, stacks one by one."""
    title = rf"\mathrm{{{name}}}".replace("_", r"\_")
    return [pair for key, value in outputs.items() for pair in _flat(f"{title}:{key}" if len(outputs) > 1 else title, value)]


def _flat(label: str, value: Any) -> list[tuple[str, Any]]:
    if not isinstance(value, tuple):
        return [(label, value)]
    return [pair for k, part in enumerate(value, 1) for pair in _flat(f"{label}_{{{k}}}", part)]
