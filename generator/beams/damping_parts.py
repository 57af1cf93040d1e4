"""A damping matrix as a sum of few parts that cost less to multiply by than its entries."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DampingParts:
    """D = beta K + sum_i sign_i v_i v_i^T: internal friction, and what single modes have more than that, or less.

    Of a clamped mode x_i of frequency w_i, with x_i^T M x_i = 1 and the damping ratio zeta_i, v_i v_i^T is
    (2 zeta_i w_i - beta w_i^2) M x_i x_i^T M with the sign taken out: D x_i = 2 zeta_i w_i M x_i.
    """

    internal: float  # beta [s]
    modal: tuple[tuple[int, tuple[float, ...]], ...]  # sign_i and v_i
