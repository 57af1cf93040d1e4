"""Expected values of contact functions: the equation of motion with contact forces, and frames at rest.

A threshold decides which rows follow from others and carry no force: rows are compared only where all active ones are clearly
independent, the balance of forces everywhere. With loops, both hold for closed velocities.
"""

from __future__ import annotations

import numpy as np

from elastogen.generator.reference.closed_loops import Closed, OpenChoiceError
from elastogen.generator.reference.expected.frames import frame_jacobians, frame_motion
from elastogen.generator.reference.expected.plain import Difference, Expectation, Found, tree_forces
from elastogen.generator.reference.quantities import Array, Quantities

INDEPENDENT = 1e-2  # smallest singular value of the active rows beside the largest


class _Touching:
    """Rows of the active contacts, in base axes."""

    def __init__(self, of: Quantities) -> None:
        contacts = of.of.robot.contacts
        self.of, self.names = of, [contact.frame for contact in contacts]
        rows = np.array([[component < contact.rows for component in range(6)] for contact in contacts])
        self.acts: Array = (rows * of.states["active"][..., None]).reshape(len(of.at("q")), -1)
        self.J: Array = (frame_jacobians(of, self.names) * of.free).reshape(*self.acts.shape, of.n)
        self.closed = Closed(of) if of.of.robot.loops else None
        self.rows = self.J if self.closed is None else self.J @ self.closed.null_space

    def independent(self, columns: list[int]) -> Array:
        """States in which the active rows, or some of their columns, are independent."""
        found = []
        for J, acts in zip(self.rows, self.acts, strict=True):
            rows = J[acts > 0][:, columns]
            values = np.linalg.svd(rows, compute_uv=False) if rows.size else np.zeros(1)
            needed = len(rows) if len(columns) == self.rows.shape[-1] else len(columns)
            found.append(0 < needed <= len(values) and values[needed - 1] > INDEPENDENT * values[0])
        return np.array(found)

    def work(self, forces: Array) -> tuple[Array, Array]:
        """J^T times forces of contact (states, contacts, 6), and its size."""
        flat = forces.reshape(self.acts.shape)
        value, size = (np.einsum("srk,sr->sk", a, b) for a, b in ((self.J, flat), (np.abs(self.J), np.abs(flat))))
        return value, size

    def silent(self, forces: Array) -> Difference:
        """Check that inactive contacts carry nothing, wherever the mass matrix is regular."""
        idle = (1 - self.acts)[~self.of.singular]
        return forces.reshape(self.acts.shape)[~self.of.singular] * idle, np.zeros(idle.shape), 1.0

    def at_rest(self, twists: Array, wanted: Array, size: Array) -> Difference:
        """The active rows of twists (states, contacts, 6) are as wanted, where they are independent."""
        some = self.independent(list(range(self.rows.shape[-1])))
        a, b, c = ((x.reshape(self.acts.shape) * self.acts)[some] for x in (twists, wanted, size))
        return a, b, c + 1e-300 if c.size == 0 else c + 1e-3 * c.max()


def contact_dynamics(of: Quantities, found: Found) -> list[Difference]:
    """M qdd + bias = F + J^T lambda, and no acceleration in active contacts."""
    touching, some = _Touching(of), ~of.singular
    qdd, forces = found[0], found[1]
    tree, (load, load_size) = tree_forces(of, qdd), touching.work(forces)
    acting = of.unloaded(of.at("F"))
    if touching.closed is not None:
        balances = touching.closed.judged(qdd, acting, type(tree)(tree.value - load, tree.size + load_size))
    else:
        balances = [((tree.value - load)[some], acting[some], (tree.size + load_size + np.abs(acting))[some])]
    moved = of.elsewhere({**of.states, "qdd": qdd})
    twists = frame_motion(moved, touching.names, 1)
    size = np.abs(twists) + np.einsum("srk,sk->sr", np.abs(touching.J), np.abs(qdd)).reshape(twists.shape)
    rest = touching.at_rest(twists, np.zeros_like(twists), size)
    return [*balances, touching.silent(forces), *([] if of.singular.any() else [rest])]


def contact_impulse(of: Quantities, found: Found) -> list[Difference]:
    """M (qd_after - qd) = J^T impulses, and J qd_after = -e n (n . v) in active contacts."""
    touching, some, contacts = _Touching(of), ~of.singular, of.of.robot.contacts
    after, impulses = found[0], found[1]
    change = after - of.at("qd")
    load, size = touching.work(impulses)
    terms = np.einsum("sij,sj->si", np.abs(of.mass), np.abs(after) + np.abs(of.at("qd")))
    gained, sizes = np.einsum("sij,sj->si", of.mass, change) * of.free, terms + size
    balances = [(gained[some], load[some], sizes[some])]
    if touching.closed is not None:
        G, rows = touching.closed.null_space, touching.closed.J[:, touching.closed.kept]
        opened = np.einsum("srk,sk->sr", rows, after), np.zeros(rows.shape[:2])
        grown = np.einsum("skf,sk->sf", np.abs(G), sizes)
        balances = [
            (touching.closed.projected(gained), touching.closed.projected(load), grown),
            (*opened, (np.abs(rows).max(axis=(1, 2)) * np.abs(after).max(axis=1))[:, None] + 1e-300),
        ]
    before, twists = (np.einsum("srk,sk->sr", touching.J, v).reshape(-1, len(contacts), 6) for v in (of.at("qd"), after))
    normals = np.array([contact.normal for contact in contacts])
    wanted = np.zeros_like(twists)
    speed = np.einsum("scr,cr->sc", before[..., :3], normals) * of.states["restitution"]
    wanted[..., :3] = -speed[..., None] * normals
    speeds = np.einsum("srk,sk->sr", np.abs(touching.J), np.abs(after) + np.abs(of.at("qd"))).reshape(twists.shape)
    rest = touching.at_rest(twists, wanted, speeds)
    return [*balances, touching.silent(impulses), *([] if of.singular.any() else [rest])]


def contact_inverse_dynamics(of: Quantities, found: Found) -> list[Difference]:
    """Drives and contacts give all forces, and contact forces are smallest: in the range of the base's columns."""
    touching, robot = _Touching(of), of.of.robot
    if touching.closed is not None:
        return _closed_inverse_dynamics(of, touching, touching.closed, found)
    free = [k for k, velocity in enumerate(robot.velocities) if not velocity.driven and not velocity.elastic]
    some = touching.independent(free)
    forces = np.where(some[:, None, None], found[1], 0.0)
    load, size = touching.work(forces)
    tree = tree_forces(of, of.at("qdd"))
    expected = of.loaded(type(tree)(tree.value - load, tree.size + size))
    own = np.where(np.isin(np.arange(of.n), free), 0.0, 1.0)
    rows = (touching.J * touching.acts[..., None])[..., free]
    least = np.linalg.pinv(np.swapaxes(rows, -1, -2)) @ tree.value[:, free, None]
    sizes = np.abs(least[..., 0]) + np.abs(least).max(axis=1)
    return [
        (found[0][some], (expected.value * own)[some], expected.size[some]),
        ((expected.value * (1 - own))[some], np.zeros_like(tree.value)[some], expected.size[some]),
        (forces.reshape(touching.acts.shape)[some], least[..., 0][some], sizes[some] + 1e-300),
    ]


def _closed_inverse_dynamics(of: Quantities, touching: _Touching, closed: Closed, found: Found) -> list[Difference]:
    """The same in closed velocities; with redundant drives their shares are open."""
    velocities = of.of.robot.velocities
    if len(closed.driven) > len(closed.independent):
        raise OpenChoiceError
    free = [r for r, k in enumerate(closed.independent) if not velocities[k].driven and not velocities[k].elastic]
    some = touching.independent(free)
    given, forces = np.where(some[:, None], found[0], 0.0), np.where(some[:, None, None], found[1], 0.0)
    load, size = touching.work(forces)
    tree, driven = tree_forces(of, of.at("qdd")), np.array([v.driven or v.elastic for v in velocities])
    wanted = closed.projected(tree.value)
    G = np.abs(closed.null_space)
    scale = np.einsum("skf,sk->sf", G, tree.size + size + np.abs(given))
    acting = of.unloaded(given)
    rows = (touching.rows * touching.acts[..., None])[..., free]
    least = np.linalg.pinv(np.swapaxes(rows, -1, -2)) @ wanted[:, free, None]
    sizes = np.abs(least[..., 0]) + np.abs(least).max(axis=1)
    return [
        (closed.projected(acting + load)[some], wanted[some], scale[some]),
        (given * ~driven, np.zeros_like(given), 1.0),
        (forces.reshape(touching.acts.shape)[some], least[..., 0][some], sizes[some] + 1e-300),
    ]


CONTACTS: dict[str, Expectation] = {
    "contact_dynamics": contact_dynamics,
    "contact_impulse": contact_impulse,
    "contact_inverse_dynamics": contact_inverse_dynamics,
}
"""By the names of the catalogue."""
