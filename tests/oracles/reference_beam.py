"""Link A of the reference, the outer link of paper 003's R P_b robot: its data, modes and published frequencies."""

from fractions import Fraction

import numpy as np
from flexible_reference import constant, power

from elastogen.generator.beams import shapes as beam_shapes
from elastogen.generator.beams.integrals import Beam, Mode

EI, RHO, LENGTH, TIP = 0.1688, 0.35325, 0.8, 0.1  # [N m^2], [kg/m], [m], mass at the tip [kg]
FREE = np.array([3.797658548, 23.79951987, 66.63934478, 130.5865191, 215.8688729])  # rad/s
LOADED = np.array([2.430759847, 18.72959228, 56.47491039, 115.2547527, 195.2938083])  # with 0.1 kg at the tip
ON_A_HUB = np.array([7.777672371, 21.05306834, 57.23146274])  # with the tip mass, on a hinged hub of 0.01 kg m^2


def link_a(**options):
    bending = constant(EI)
    return Beam(Fraction("0.8"), constant(RHO), {"y": bending, "z": bending}, **options)


def eigenmodes(count, ratio=0.0):
    return [Mode(f"y{n}", "y", beam_shapes.eigenfunction(n, ratio)) for n in range(1, count + 1)]


def powers(count, direction="y"):
    return [Mode(f"{direction}{n - 1}", direction, power(n)) for n in range(2, count + 2)]
