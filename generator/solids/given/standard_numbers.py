"""From standard input data (SID) to the integrals of a body, clamped where its own joint is.

With r places and b_j shapes the blocks are: Ct = int b_j dm, Cr = int r x b_j dm + ..., J and its derivatives,
Gr_j = -2 int r~ b_j~ dm, Ge_ij = -2 int b_i x b_j dm, Oe the centrifugal forces on the modes by (w1^2, w2^2, w3^2, w1 w2,
w2 w3, w1 w3), of some writers with the last two exchanged, which J tells. J gives the symmetric part of int b_j r^T dm, Cr
the other one; Oe and Cr of first order those of int b_i b_j^T dm. What they have beyond that is geometric stiffness:
displacements of second order, as foreshortening has.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastogen.generator.solids.given.standard_input import Node, StandardInput, Taylor
from elastogen.generator.solids.reduction import pairs
from elastogen.generator.solids.solid import Array

AGREE = 1e-3  # relative: blocks that differ by more contradict each other
STIFFENED = 1e-6  # relative: first-order parts that are no rounding
ROUNDS = 500  # of the search for int b_i b_j^T dm where stiffness hides it
LEAST = 1e-6  # relative to Me: eigenvalues of what the masses have beyond a rigid motion, safely not negative


@dataclass(frozen=True)
class Integrals:
    """Of a body in the link frame: what ``reduced_body.integrals`` gives of a mesh, stiffness, damping, and its nodes."""

    numbers: dict[str, Array]
    stiffness: Array
    damping: Array
    nodes: dict[int, Node]
    stiffened: bool
    alone: float  # relative: what Oe has beyond Me where no other block is stiffened

    def motion(self, number: int, place: Array) -> Array:
        """(k + p, 6): shift and rotation of a frame at ``place`` [m] that a node carries, of every field."""
        node, count = self.nodes[number], len(self.stiffness)
        lever = place - node.origin
        first = np.hstack([node.phi.zeroth.T + np.cross(node.psi.T, lever), node.psi.T])
        if not self.stiffened:
            return first
        weights = [1.0 if j != k else 0.5 for j, k in pairs(count)]
        second = [w * node.phi.first[:, k, j] for w, (j, k) in zip(weights, pairs(count), strict=True)]
        return np.vstack([first, np.hstack([np.array(second), np.zeros((len(second), 3))])])


def integrals(given: StandardInput, length: float, mass: float, pose: Array, clamp: int | None) -> Integrals:
    """In SI units (of which one of the file's is ``length`` [m], ``mass`` [kg]) and in the link frame; ``clamp`` is a node.

    Raises ``ValueError`` with the blocks that contradict each other.
    """
    given = _ordered(given)
    n, blocks = given.modes, given.blocks
    energy = mass * length**2
    total, c = given.mass * mass, blocks["mdCM"].zeroth[:, 0] * mass * length
    S = _second_moments(_tensor(blocks["J"].zeroth)) * energy
    f = blocks["Ct"].zeroth * mass * length
    Cr0, J1 = blocks["Cr"].zeroth, [_tensor(_slice(blocks["J"], j)) for j in range(n)]
    P = np.array([_symmetric_part(J1[j]) + _skew(Cr0[j]) / 2 for j in range(n)]) * energy
    N, second = _products(given)
    N, nodes = N * energy, {k: _scaled(node, length) for k, node in given.nodes.items()}
    _check(given, P / energy)
    K, D = (_of(blocks, name, n) * energy for name in ("Ke", "De"))
    fields = second["fields"] * mass * length, second["positions"] * energy
    # into the link frame
    R, p = pose[:3, :3], pose[:3, 3]
    c_link = R @ c + total * p
    S = R @ S @ R.T + np.outer(R @ c, p) + np.outer(p, R @ c) + total * np.outer(p, p)
    P = np.array([R @ (own @ R.T + np.outer(shift, p)) for own, shift in zip(P, f, strict=True)])
    f, N = f @ R.T, R @ N @ R.T
    second_P = np.array([R @ (own @ R.T + np.outer(shift, p)) for own, shift in zip(fields[1], fields[0], strict=True)])
    second_f = fields[0] @ R.T
    nodes = {k: _placed(node, R, p) for k, node in nodes.items()}
    if clamp is not None:  # what moves at the own joint does not strain: the link frame is there
        held = nodes[clamp]
        W = np.array([_skew(held.psi[:, j]) for j in range(n)])
        a = np.array([held.phi.zeroth[:, j] - W[j] @ held.origin for j in range(n)])
        N = np.array([[_relative(N[i, j], (f, P), (i, j), (a, W), (total, c_link, S)) for j in range(n)] for i in range(n)])
        P = P - np.einsum("ja,b->jab", a, c_link) - W @ S
        f = f - a * total - W @ c_link
        moving = held.phi.first
        second_f = second_f - total * _by_pairs(moving, n)
        second_P = second_P - np.einsum("ja,b->jab", _by_pairs(moving, n), c_link)
        nodes = {k: _held(node, a, W, moving) for k, node in nodes.items()}
    stiffened = bool(second["strong"])
    return Integrals(
        {
            "mass": np.array(total), "first": c_link, "second": (S + S.T) / 2, "products": N,
            "fields": np.vstack([f, second_f]) if stiffened else f,
            "positions": np.concatenate([P, second_P]) if stiffened else P,
        },
        (K + K.T) / 2, (D + D.T) / 2, nodes, stiffened, _alone(given),
    )  # fmt: skip


def _relative(
    N: Array,
    moments: tuple[Array, Array],
    modes: tuple[int, int],
    motions: tuple[Array, Array],
    body: tuple[float, Array, Array],
) -> Array:
    """int (b_i - a_i - W_i r)(b_j - a_j - W_j r)^T dm."""
    (f, P), (i, j), (a, W), (total, c, S) = moments, modes, motions, body
    found: Array = N - np.outer(f[i], a[j]) - P[i] @ W[j].T - np.outer(a[i], f[j]) - W[i] @ P[j].T
    found += total * np.outer(a[i], a[j]) + np.outer(a[i], W[j] @ c) + np.outer(W[i] @ c, a[j]) + W[i] @ S @ W[j].T
    return found


def _scaled(node: Node, length: float) -> Node:
    return Node(node.origin * length, Taylor(node.phi.zeroth * length, node.phi.first * length), node.psi)


def _placed(node: Node, R: Array, p: Array) -> Node:
    phi = Taylor(R @ node.phi.zeroth, np.einsum("ab,bkj->akj", R, node.phi.first))
    return Node(R @ node.origin + p, phi, R @ node.psi)


def _held(node: Node, a: Array, W: Array, moving: Array) -> Node:
    psi = node.psi - np.array([[w[2, 1], w[0, 2], w[1, 0]] for w in W]).T
    phi = node.phi.zeroth - a.T - (W @ node.origin).T
    return Node(node.origin, Taylor(phi, node.phi.first - moving), psi)


def _by_pairs(first: Array, n: int) -> Array:
    """(pairs, 3) of (3, modes, modes): half of it where both modes are the same."""
    return np.array([first[:, k, j] * (1.0 if j != k else 0.5) for j, k in pairs(n)])


def _tensor(block: Array) -> Array:
    """A symmetric matrix: itself, or 11, 22, 33, 12, 13, 23 of it."""
    if block.shape == (3, 3):
        return block
    if block.size != 6:
        raise ValueError(f"J of {block.shape[0]} x {block.shape[1]}, expected 6 x 1 or 3 x 3")
    a, b, c, ab, ac, bc = block.ravel()
    return np.array([[a, ab, ac], [ab, b, bc], [ac, bc, c]])


def _slice(block: Taylor, mode: int) -> Array:
    return block.first[:, mode, :]


def _second_moments(J: Array) -> Array:
    found: Array = np.trace(J) / 2 * np.eye(3) - J
    return found


def _symmetric_part(J1: Array) -> Array:
    """Of int b r^T dm."""
    return _second_moments(J1) / 2


def _skew(v: Array) -> Array:
    """v~; of int r x b dm it is int b r^T dm less its transpose."""
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def _of(blocks: dict[str, Taylor], name: str, n: int) -> Array:
    """A matrix over the modes; none is zero."""
    if name not in blocks:
        return np.zeros((n, n))
    found = blocks[name].zeroth
    if found.shape != (n, n):
        raise ValueError(f"{name} of {found.shape[0]} x {found.shape[1]}, expected {n} x {n}")
    return found


def _ordered(given: StandardInput) -> StandardInput:
    """With the last two columns of Oe as Wallrapp has them, w2 w3 and w1 w3: those of J of first order tell."""
    blocks, n = dict(given.blocks), given.modes
    Oe = blocks["Oe"]
    if Oe.zeroth.shape != (n, 6):
        raise ValueError(f"Oe of {Oe.zeroth.shape}, expected {(n, 6)}")
    by_J = -np.array([_tensor(_slice(blocks["J"], j))[[1, 0], 2] for j in range(n)])  # -J1_23, -J1_13
    as_it_is, exchanged = (np.abs(Oe.zeroth[:, order] - by_J).max() for order in ([4, 5], [5, 4]))
    if exchanged < as_it_is:
        order = [0, 1, 2, 3, 5, 4]
        blocks["Oe"] = Taylor(Oe.zeroth[:, order], Oe.first[:, :, order])
    return StandardInput(given.mass, given.names, given.nodes, blocks)


def _products(given: StandardInput) -> tuple[Array, dict[str, Array]]:
    """int b_i b_j^T dm, and the second-order fields of the geometric stiffness, in the file's units."""
    n, blocks = given.modes, given.blocks
    shapes = {"Ct": (n, 3), "Cr": (n, 3), "Oe": (n, 6), "mdCM": (3, 1), "Me": (n, n)}
    for name, shape in shapes.items():
        if blocks[name].zeroth.shape != shape:
            raise ValueError(f"{name} of {blocks[name].zeroth.shape}, expected {shape}")
    Me, Oe1 = blocks["Me"].zeroth, blocks["Oe"].first
    centrifugal = np.array([[_centrifugal(Oe1[i, j]) for j in range(n)] for i in range(n)])
    centrifugal = (centrifugal + centrifugal.transpose(1, 0, 2, 3)) / 2
    Cr1 = blocks["Cr"].first  # row i, mode j: int b_j x b_i dm, beside what is symmetric in i and j
    across = np.array([[_skew(Cr1[i, j] - Cr1[j, i]) / 4 for j in range(n)] for i in range(n)])  # half of N - N^T
    given_N = centrifugal + across
    size = float(np.abs(np.diag(Me)).max())
    traces = np.trace(centrifugal, axis1=2, axis2=3)
    strong = np.abs(traces - Me).max() > STIFFENED * size
    strong |= bool(np.abs(Cr1 + Cr1.transpose(1, 0, 2)).max() > STIFFENED * size)
    strong |= bool(np.abs(blocks["Ct"].first).max() > STIFFENED * max(np.abs(blocks["Ct"].zeroth).max(), 1e-300))
    N = _possible(given_N, Me, _rigid_part(given)) if strong else given_N
    rest = centrifugal - (N + N.transpose(0, 1, 3, 2)) / 2  # what Oe has beside the masses
    half = [(j, k, 1.0 if j != k else 0.5) for j, k in pairs(n)]
    about = (Cr1 + Cr1.transpose(1, 0, 2)) / 2
    shifts = (blocks["Ct"].first + blocks["Ct"].first.transpose(1, 0, 2)) / 2
    positions = np.array([w * (rest[j, k] + _skew(about[j, k]) / 2) for j, k, w in half])
    fields = np.array([w * shifts[j, k] for j, k, w in half])
    return N, {"fields": fields, "positions": positions, "strong": np.array(strong)}


def _alone(given: StandardInput) -> float:
    """How far Oe and Me differ, where nothing else tells of geometric stiffness."""
    n, blocks = given.modes, given.blocks
    Cr1, Me = blocks["Cr"].first, blocks["Me"].zeroth
    parts = [blocks["Ct"].first, Cr1 + Cr1.transpose(1, 0, 2), *(node.phi.first for node in given.nodes.values())]
    if any(np.abs(part).max() > STIFFENED * np.abs(whole).max() for part, whole in zip(parts, _wholes(given), strict=True)):
        return 0.0
    traces = np.array([[np.trace(_centrifugal(blocks["Oe"].first[i, j])) for j in range(n)] for i in range(n)])
    return float(np.abs((traces + traces.T) / 2 - Me).max() / np.abs(np.diag(Me)).max())


def _wholes(given: StandardInput) -> list[Array]:
    """What first-order parts are compared with."""
    blocks = given.blocks
    return [blocks["Ct"].zeroth, np.diag(blocks["Me"].zeroth), *(node.phi.zeroth + 1e-300 for node in given.nodes.values())]


def _centrifugal(row: Array) -> Array:
    """The symmetric matrix A with w^T A w - w^2 tr A = the force that a row of Oe gives."""
    squares, (xy, yz, xz) = row[:3], row[3:] / 2
    diagonal = np.diag(squares - squares.sum() / 2)
    found: Array = diagonal + np.array([[0, xy, xz], [xy, 0, yz], [xz, yz, 0]])
    return found


def _rigid_part(given: StandardInput) -> Array:
    """What int b_i b_j^T dm has at least: the part of the shapes that 1 and r make, by Schwarz' inequality."""
    n, blocks = given.modes, given.blocks
    c = blocks["mdCM"].zeroth[:, 0]
    gram = np.block([[np.array([[given.mass]]), c[None, :]], [c[:, None], _second_moments(_tensor(blocks["J"].zeroth))]])
    across = np.zeros((3 * n, 4))  # int b dm, int b r^T dm
    across[:, 0] = blocks["Ct"].zeroth.ravel()
    across[:, 1:] = np.vstack(
        [_symmetric_part(_tensor(_slice(blocks["J"], j))) + _skew(blocks["Cr"].zeroth[j]) / 2 for j in range(n)]
    )
    size = np.sqrt(np.abs(np.diag(gram)))
    size = np.where(size > 0, size, 1.0)
    scaled = across / size
    flat = scaled @ np.linalg.pinv(gram / np.outer(size, size), rcond=1e-9, hermitian=True) @ scaled.T
    found: Array = flat.reshape(n, 3, n, 3).transpose(0, 2, 1, 3)
    return found


def _possible(wanted: Array, Me: Array, least: Array) -> Array:
    """The integrals near to those wanted that masses can have: traces Me, and no negative eigenvalue beyond the least.

    Geometric stiffness hides in Oe what it adds to them. They matter in second order of q in M(q) alone, which SID leaves out.
    """
    n, found = len(Me), wanted - least
    traces = Me - np.trace(least, axis1=2, axis2=3)
    scale = np.repeat(np.sqrt(np.abs(np.diag(Me))), 3)
    for _ in range(ROUNDS):
        found += ((traces - np.trace(found, axis1=2, axis2=3)) / 3)[:, :, None, None] * np.eye(3)
        flat = found.transpose(0, 2, 1, 3).reshape(3 * n, 3 * n) / np.outer(scale, scale)
        values, vectors = np.linalg.eigh((flat + flat.T) / 2)
        if values[0] >= LEAST:
            possible: Array = found + least
            return possible
        flat = (vectors * np.maximum(values, 2 * LEAST)) @ vectors.T * np.outer(scale, scale)
        found = flat.reshape(n, 3, n, 3).transpose(0, 2, 1, 3)
    raise ValueError("Me contradicts Oe, Cr and Ct: no masses have all of them")


def _check(given: StandardInput, P: Array) -> None:
    """Refuse blocks that say the same with other numbers."""
    n, blocks = given.modes, given.blocks
    size = max(float(np.abs(P).max()), 1e-300)
    Gr, Ge = blocks["Gr"].zeroth, blocks["Ge"].zeroth
    if Gr.shape != (3, 3 * n) or Ge.shape != (n, 3 * n):
        raise ValueError(f"Gr of {Gr.shape}, Ge of {Ge.shape}, expected {(3, 3 * n)} and {(n, 3 * n)}")
    by_J = np.hstack([-2 * (own - np.trace(own) * np.eye(3)) for own in P])
    Cr1 = blocks["Cr"].first
    twice = Cr1 - Cr1.transpose(1, 0, 2)  # (i, j, 3): -2 int b_i x b_j dm
    layouts = (Ge.reshape(n, n, 3), Ge.reshape(n, 3, n).transpose(0, 2, 1))  # FEMBS: by modes; others: by directions
    masses = float(np.abs(np.diag(blocks["Me"].zeroth)).max())
    Oe1 = blocks["Oe"].first
    centrifugal = np.array([-np.trace(own) * np.eye(3) + (own + own.T) / 2 for own in P])
    Oe0 = np.array([_centrifugal(row) - np.trace(_centrifugal(row)) * np.eye(3) for row in blocks["Oe"].zeroth])
    found = {
        "J (first order) with Cr, and Gr": np.abs(by_J - Gr).max() / (2 * size),
        "J (first order) and Oe": np.abs(Oe0 - centrifugal).max() / size,
        "Ct and mdCM (first order)": np.abs(blocks["Ct"].zeroth - blocks["mdCM"].first[:, :, 0].T).max()
        / max(float(np.abs(blocks["Ct"].zeroth).max()), 1e-300),
        "Ge and Cr (first order)": min(np.abs(one - twice).max() for one in layouts) / masses,
        "Oe (first order) and its transpose": np.abs(Oe1 - Oe1.transpose(1, 0, 2)).max() / masses,
    }
    worst = max(found, key=lambda name: found[name])
    if not found[worst] <= AGREE:
        raise ValueError(
            f"{worst} contradict each other by {found[worst]:.2g} of the largest entry: "
            "nodes with rotary inertia that only some blocks have, or a writer with mistakes"
        )
