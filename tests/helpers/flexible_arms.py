"""Planar arms of flexible links: beams by polynomial modes on joints along z."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
from flexible_reference import constant
from reference_beam import EI, LENGTH, RHO

from elastogen.generator.beams.integrals import Beam, beam_body
from elastogen.generator.joints import kinds
from elastogen.generator.robot.robot import Body, Joint, Link, Robot

ROD = RHO, EI, LENGTH  # mass per length [kg/m], EI [N m^2], length [m]
HUB = Body(0, (0, 0, 0), ((0, 0, 0), (0, 0, 0), (0, 0, 0.01)))


def beam(mass_per_length, EI, length, modes, **options):
    data = Beam(Fraction(repr(length)), constant(mass_per_length), {"y": constant(EI), "z": constant(EI)}, **options)
    return beam_body(data, modes)


def planar_arm(*links, gravity=(0, 0, 0), types=()):
    """A chain of links with axes along z; each link is a Link without a name."""
    named = [Link("base")] + [replace(link, name=f"link{k}") for k, link in enumerate(links, start=1)]
    joints = []
    for k in range(len(links)):
        kind = types[k] if types else kinds.REVOLUTE
        axis = (0, 0, 1) if kind is kinds.REVOLUTE else (1, 0, 0)
        joints.append(Joint(f"j{k + 1}", kind, named[k].name, named[k + 1].name, axis=axis))
    return Robot("arm", tuple(named), tuple(joints), gravity=gravity, tip=named[-1].name)


def frequencies(M, K, kept):
    """sqrt of the eigenvalues of M^-1 K on some coordinates [rad/s]."""
    block = np.ix_(kept, kept)
    return np.sqrt(np.abs(np.sort(np.linalg.eigvals(np.linalg.solve(M[block], K[block])).real)))
