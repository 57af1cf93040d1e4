"""Functions for the identification of inertial parameters."""

from __future__ import annotations

from functools import lru_cache

from elastogen.generator.functions import regressor as identification
from elastogen.generator.functions.catalogue import Derived, Entry, flat
from elastogen.generator.functions.loops.closing import FREE, closed_pivots, forced
from elastogen.generator.functions.variants import Variant
from elastogen.generator.program.arguments import matrix
from elastogen.runtime.interface.argument import Argument


def regressor(variant: Variant) -> Derived:
    """Y(q, qd, qdd)."""
    return Derived((flat(identification.regressor(variant)),), closed_pivots(variant))


def inertial_parameters(variant: Variant) -> Derived:
    """The parameters that Y multiplies."""
    return Derived((identification.parameters_of(variant),))


@lru_cache(maxsize=4)
def _base(variant: Variant) -> identification.BaseSet:
    return identification.base_set(variant, identification.regressor(variant), variant.nominal)


def base_regressor(variant: Variant) -> Derived:
    """The independent columns of Y."""
    Y, columns = identification.regressor(variant), _base(variant).columns
    return Derived((flat([[row[column] for column in columns] for row in Y]),), closed_pivots(variant))


def base_parameters(variant: Variant) -> Derived:
    """The parameters that the independent columns multiply."""
    return Derived((identification.combined(variant, _base(variant)),))


_ORDER = "per body m, mx, my, mz, Lxx, Lxy, Lxz, Lyy, Lyz, Lzz; flexible links and joints; drives"
_UNIT = "kg, kg m, kg m^2; kg/m, N m^2"

ENTRIES = (
    Entry("regressor", "Regressor Y(q, qd, qdd): inverse dynamics is Y times the inertial parameters.",
          ("q", "qd", "qdd"),
          lambda v: (matrix("Y", v.size, len(identification.parameters_of(v)), "SI", "regressor"),),
          (regressor,), "kinematic", default=False, applies=forced, applies_to=FREE),
    Entry("inertial_parameters", "Parameters that the regressor multiplies: of rigid bodies, flexible links, joints, drives.",
          (), lambda v: (Argument("pi", (len(identification.parameters_of(v)),), _UNIT, _ORDER),),
          (inertial_parameters,), "plain", default=False),
    Entry("base_regressor", "Independent columns of the regressor: inverse dynamics is Y_b times the base parameters.",
          ("q", "qd", "qdd"),
          lambda v: (matrix("Y_b", v.size, len(_base(v).columns), "SI", "regressor"),),
          (base_regressor,), "plain", default=False, applies=forced, applies_to=FREE),
    Entry("base_parameters", "Base parameters: the combinations of inertial parameters that can be identified.", (),
          lambda v: (Argument("pi_b", (len(_base(v).columns),), _UNIT, "combinations of inertial parameters"),),
          (base_parameters,), "plain", default=False, applies=forced, applies_to=FREE),
)  # fmt: skip
