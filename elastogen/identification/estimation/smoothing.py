"""The low pass of positions and velocities: below that of the equations where accelerations are noise.

Noise of positions grows with the square of the frequency in accelerations, that of forces does not. So a frequency up to which
forces are worth comparing may be one at which accelerations are noise: they make computed forces worse, and, as any noise of
regressors, inertias too small. Smoother motions are tried, and the one is kept with which the same parameters leave the least.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from elastogen.identification.equations.problem import Problem
from elastogen.identification.estimation.fit import fit_free
from elastogen.identification.measurements.clean import Piece
from elastogen.identification.measurements.signals import Motion, prepare

SMOOTHER = (0.7, 0.5)  # of the cut-off
WORTH = 0.99  # what is left, of that before: the least gain for which motions are smoothed


def smoothed(
    pieces: Sequence[Piece], cutoff: float, posed: Callable[[Sequence[Motion]], Problem]
) -> tuple[float, list[Motion]]:
    """The cut-off of positions, and the motions; posed problems have the same parameters for all."""
    best, motions = cutoff, [prepare(piece, cutoff) for piece in pieces]
    if cutoff == 0:
        return best, motions
    least = _left(posed(motions))
    for part in SMOOTHER:
        tried = [prepare(piece, cutoff, part * cutoff) for piece in pieces]
        left = _left(posed(tried))
        if left > WORTH * least:
            break
        best, motions, least = part * cutoff, tried, left
    return best, motions


def _left(problem: Problem) -> float:
    """The geometric mean over the joints of what is left."""
    return float(np.exp(np.mean(np.log(fit_free(problem).noise))))
