"""The names of closed forms: quantities, and every function of the catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from elastogen.generator.closed_form.document import Equation, Formula
from elastogen.generator.functions.derivation import CATALOGUE
from elastogen.generator.robot.errors import OutputError
from elastogen.generator.robot.location import did_you_mean
from elastogen.generator.robot.robot import Robot


@dataclass(frozen=True)
class Quantity:
    """The name of a result in a document: ``symbol`` in LaTeX and Typst, with ``{i}`` for the frame and ``{o}`` for axes."""

    symbol: str
    typst: str
    title: str
    per_frame: bool = False
    takes_frame: bool = False

    def equation(self, frame: int, axes: int, value: Any) -> Equation:
        """The equation of a value."""
        return Equation(self.symbol.format(i=frame, o=axes), self.typst.format(i=frame, o=axes), value)


#: Everything a :class:`ClosedForm` can derive, in the order of its document.
QUANTITIES: dict[str, Quantity] = {
    "transforms": Quantity(r"[T]_{{{i}}}^{{0}}", "[T]_({i})^0", "Transformations to frame 0", True),
    "angular_velocities": Quantity(
        r"[\bar{{\omega}}]_{{{i}}}^{{{o}}}", "[macron(omega)]_({i})^({o})", "Angular velocities", True, True
    ),
    "linear_velocities": Quantity(r"[\bar{{v}}]_{{{i}}}^{{{o}}}", "[macron(v)]_({i})^({o})", "Linear velocities", True, True),
    "angular_accelerations": Quantity(
        r"[\bar{{\varepsilon}}]_{{{i}}}^{{{o}}}", "[macron(epsilon)]_({i})^({o})", "Angular accelerations", True, True
    ),
    "linear_accelerations": Quantity(
        r"[\bar{{a}}]_{{{i}}}^{{{o}}}", "[macron(a)]_({i})^({o})", "Linear accelerations", True, True
    ),
    "jacobian": Quantity(r"J^{{0}}", "J^0", "Jacobian of the tip in frame 0, linear rows first"),
    "jacobian_tip": Quantity(r"J^{{tip}}", 'J^"tip"', "Jacobian of the tip in the tip frame"),
    "jacobian_rate": Quantity(r"\dot{{J}}^{{0}}", "dot(J)^0", "Rate of the Jacobian in frame 0"),
    "jacobian_tip_rate": Quantity(
        r"R^{{T}}\dot{{J}}^{{0}}", "R^T dot(J)^0", "Rate of the Jacobian, projected on the tip frame"
    ),
    "mass_matrix": Quantity("M", "M", "Mass matrix"),
    "coriolis_matrix": Quantity("C", "C", "Coriolis matrix (Christoffel symbols)"),
    "coriolis_vector": Quantity(r"C\dot{{q}}", "C dot(q)", "Coriolis and centrifugal forces"),
    "gravity_vector": Quantity("G", "G", "Gravity forces"),
    "kinetic_energy": Quantity(r"E_{{C}}", "E_C", "Kinetic energy"),
    "potential_energy": Quantity("V", "V", "Potential energy"),
    "inverse_dynamics": Quantity("F", "F", "Generalized driving forces"),
}


def quantity(name: str) -> Quantity:
    """The quantity of that name."""
    if not isinstance(name, str) or name not in QUANTITIES:
        near = did_you_mean(name, QUANTITIES)
        hint = f" Fix: {near}" if near else ""
        raise OutputError(f"no closed form is called {name!r}, expected one of {', '.join(QUANTITIES)}.{hint}")
    return QUANTITIES[name]


def check_frame(frame: object) -> None:
    """Refuse unknown axes, also for a quantity that has only one kind."""
    if not isinstance(frame, str) or frame not in ("base", "own"):
        raise OutputError(f"frame={frame!r}, expected 'base' (components in frame 0) or 'own' (in frame i).")


def is_function(robot: Robot, name: str) -> bool:
    """Whether the name is a function of the catalogue or of the robot, and not a quantity."""
    return (
        isinstance(name, str)
        and name not in QUANTITIES
        and (name in CATALOGUE or any(own.name == name for own in robot.functions))
    )


#: The parts of a whole document, in their order.
DOCUMENT = (
    "transforms", "jacobian", "mass_matrix", "coriolis_matrix", "stiffness_matrix", "damping_matrix", "gravity_vector",
    "inverse_dynamics",
)  # fmt: skip
#: Letters and titles of functions that documents have; other functions are called by their names.
_KNOWN = {
    "stiffness_matrix": ("K", "Stiffness matrix"), "damping_matrix": ("D", "Damping matrix"),
    "strain_energy": ("U", "Strain energy"), "elastic_forces": ("Q_{e}", "Elastic forces"),
    "friction_forces": ("R", "Friction and damping"),
}  # fmt: skip
MOTION = Formula(
    r"F = M\ddot{q} + C\dot{q} + D\dot{q} + Q_{e} + G, \quad Q_{e} = \partial U / \partial q = K q",
    "F = M dot.double(q) + C dot(q) + D dot(q) + Q_e + G, quad Q_e = (partial U) / (partial q) = K q",
)
"""The equation of motion of flexible robots without Coulomb friction and own terms, which add their forces."""


def title_of(name: str) -> str:
    """The title of a part of a document."""
    return QUANTITIES[name].title if name in QUANTITIES else _KNOWN[name][1] if name in _KNOWN else name.replace("_", " ")


def named_outputs(name: str, outputs: Mapping[str, Any]) -> list[Equation]:
    """The results of a function with their names: matrices and expressions, stacks one by one."""
    found = []
    for key, value in outputs.items():
        if name in _KNOWN:
            latex, typst = _KNOWN[name][0], _KNOWN[name][0].replace("{", "(").replace("}", ")")
        else:
            word = name if len(outputs) == 1 else f"{name}:{key}"
            latex, typst = rf"\mathrm{{{word}}}".replace("_", r"\_"), f'upright("{word}")'
        found += _flat(latex, typst, value)
    return found


def _flat(latex: str, typst: str, value: Any) -> list[Equation]:
    if not isinstance(value, tuple):
        return [Equation(latex, typst, value)]
    return [found for k, part in enumerate(value, 1) for found in _flat(f"{latex}_{{{k}}}", f"{typst}_({k})", part)]
