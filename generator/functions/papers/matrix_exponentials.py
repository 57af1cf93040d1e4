"""The kinematics of paper 001: products of matrix exponentials, as emitted C.

They give the same as the recursions, for readers who follow the paper or check the recursions.
"""

from __future__ import annotations

from elastogen.generator.algorithms.exponentials.matrix_exponentials import MatrixExponentials
from elastogen.generator.functions.catalogue import Derived, Entry, Formulation, Outputs, flat
from elastogen.generator.functions.variants import Variant
from elastogen.generator.program.arguments import MOTION, matrix
from elastogen.generator.program.differentiate import time_derivative
from elastogen.generator.program.graph import Value
from elastogen.generator.robot.robot import Robot
from elastogen.generator.spatial.vectors import Mat
from elastogen.runtime.interface.argument import Argument


def _exponentials(variant: Variant) -> MatrixExponentials:
    motion = [variant.input(name) for name in MOTION[:3]]
    return MatrixExponentials(variant.graph, variant.robot, motion, elements=variant.elements)


def _all(matrices: list[Mat]) -> Derived:
    return Derived(([value for one in matrices for value in flat(one)],))


def operators(variant: Variant) -> Derived:
    """A_i = [ {D_i k_i x}, v_i ; 0 0 ] (001 (2))."""
    return _all([factor.A for factor in _exponentials(variant).factors])


def arguments(variant: Variant) -> Derived:
    """The arguments s_i of exp(A_i s_i), and ds_i/dq."""
    found = _exponentials(variant)
    s = [found.amplitude(i) for i in range(len(found.factors))]
    return Derived((s, flat([variant.free(row) for row in found.slopes()])))


def exponentials(variant: Variant) -> Derived:
    """exp(A_i s_i)."""
    return _all(_exponentials(variant).exponentials)


def transforms(variant: Variant) -> Derived:
    """T_x0 = prod exp(A_i s_i) T_x0^(0) of every frame (001 (1), (2))."""
    found = _exponentials(variant)
    return _all([found.transform(frame) for frame in range(len(found.chains))])


def inverses(variant: Variant) -> Derived:
    """T_x0^-1 of every frame (001 (12), (14))."""
    found = _exponentials(variant)
    return _all([found.inverse(frame) for frame in range(len(found.chains))])


def partial_products(variant: Variant) -> Derived:
    """prod_{j<i} exp(A_j s_j) and its inverse, for every exponential between base and tip (001 (14b), (15))."""
    found = _exponentials(variant)
    path = found.chains[-1].factors
    parts = [path[:i] for i in range(len(path))]
    forward = [value for part in parts for value in flat(found.partial_product(part))]
    return Derived((forward, [value for part in parts for value in flat(found.inverse_product(part))]))


def transfer_factors(variant: Variant) -> Derived:
    """ME(V_i1), ME(V_i2), ME(V_i3) and M_iv of every column of the tip's linear Jacobian (001 (7)-(11)), padded with zeros."""
    found, zero = _exponentials(variant), variant.graph.value(0)
    count = len(found.chains[-1].factors)
    V1: list[Value] = []
    V2: list[Value] = []
    V3: list[Value] = []
    M: list[Value] = []
    for i in range(count):
        parts, missing = found.transfer_factors(-1, i), [zero] * (3 * i)
        V1 += flat(parts.V1)
        V2 += flat(parts.V2)
        V3 += flat([[*row, *missing] for row in parts.V3])
        M += [*parts.M, *missing]
    return Derived((V1, V2, V3, M))


def jacobian(variant: Variant) -> Derived:
    """J_i of the tip, columns by coordinates (001 (6)-(20))."""
    return _all([[variant.free(row) for row in _exponentials(variant).jacobian()]])


def jacobian_rate(variant: Variant) -> Derived:
    """dJ/dt of the tip (001 (21))."""
    motion = [(variant.input("q"), variant.input("qd"))]
    return Derived((time_derivative(variant.graph, jacobian(variant).outputs[0], motion),))


def differentials(variant: Variant) -> Derived:
    """A_ki = dT_k0/dq_i of the tip by every exponential on the way (001 (25))."""
    found = _exponentials(variant)
    return _all([found.differential(-1, i) for i in range(len(found.chains[-1].factors))])


def second_differentials(variant: Variant) -> Derived:
    """A_kjm = d2T_k0/dq_j dq_m of the tip (001 (25) as corrected)."""
    found = _exponentials(variant)
    numbers = range(len(found.chains[-1].factors))
    return _all([found.second_differential(-1, j, m) for j in numbers for m in numbers])


def velocities(variant: Variant) -> Derived:
    """(v, omega) of every frame in base components (001 (22), (23))."""
    found = _exponentials(variant)
    return Derived(([value for frame in range(len(found.chains)) for value in found.velocity(frame)],))


def accelerations(variant: Variant) -> Derived:
    """(a, eps) of every frame in base components (001 (24), (22b) as corrected)."""
    found = _exponentials(variant)
    return Derived(([value for frame in range(len(found.chains)) for value in found.acceleration(frame)],))


def _products(robot: Robot) -> bool:
    """Whether every motion is a product of exponentials of fixed screws, which rotations by quaternions are not."""
    return all(joint.type.holds or joint.type.factors(joint) for joint in robot.joints)


def _per_exponential(name: str, unit: str) -> Outputs:
    return lambda v: (Argument(name, (len(_exponentials(v).factors), 4, 4), unit, "per exponential, from the base outwards"),)


def _on_the_way(name: str, *more: int) -> Outputs:
    def outputs(variant: Variant) -> tuple[Argument, ...]:
        count = len(_exponentials(variant).chains[-1].factors)
        return (Argument(name, (*(count for _ in more), 4, 4), "1, m", "per exponential between base and tip"),)

    return outputs


def _factor_outputs(variant: Variant) -> tuple[Argument, ...]:
    n = len(_exponentials(variant).chains[-1].factors)
    doc = "per exponential between base and tip"
    return (
        Argument("V1", (n, 3, 3), "1", doc), Argument("V2", (n, 3, 6), "1", doc),
        Argument("V3", (n, 6, 6 + 3 * n), "1", f"{doc}, zeros at the end"),
        Argument("M_v", (n, 6 + 3 * n), "m, 1", f"{doc}, zeros at the end"),
    )  # fmt: skip


def _partial_outputs(variant: Variant) -> tuple[Argument, ...]:
    n, doc = len(_exponentials(variant).chains[-1].factors), "before each exponential between base and tip"
    return Argument("P", (n, 4, 4), "1, m", doc), Argument("P_inverse", (n, 4, 4), "1, m", f"{doc}, inverted")


def _per_frame(name: str, *width: int, unit: str) -> Outputs:
    return lambda v: (Argument(name, (len(v.mechanism.link_frames), *width), unit, "per frame, the tip last"),)


def _jacobian(name: str) -> Outputs:
    return lambda v: (matrix(name, 6, v.size, "m, 1 or m/rad", "rows: linear (3), angular (3)"),)


def _entry(name: str, brief: str, order: int, outputs: Outputs, formulation: Formulation) -> Entry:
    return Entry(f"exponential_{name}", brief, MOTION[:order], outputs, (formulation,), "plain", default=False,
                 applies=_products,
                 applies_to="only for robots whose joints move by screws: not for floating and spherical ones")  # fmt: skip


def _argument_outputs(variant: Variant) -> tuple[Argument, ...]:
    n, doc = len(_exponentials(variant).factors), "per exponential, from the base outwards"
    return Argument("s", (n,), "rad or m", doc), matrix("dsdq", n, variant.size, "", f"{doc}: by every coordinate")


ENTRIES = (
    _entry("operators", "Operators A_i of the matrix exponentials, in frame 0 at zero configuration.", 0,
           _per_exponential("A", "1, m"), operators),
    _entry("arguments", "Arguments s_i of the exponentials exp(A_i s_i), and their derivatives by the coordinates.", 1,
           _argument_outputs, arguments),
    _entry("factors", "Matrix exponentials exp(A_i s_i).", 1, _per_exponential("E", "1, m"), exponentials),
    _entry("transforms", "Poses T_x0 = prod exp(A_i s_i) T_x0^(0) of every frame by matrix exponentials.", 1,
           _per_frame("T", 4, 4, unit="1, m"), transforms),
    _entry("inverses", "Inverse poses T_x0^-1 = (T_x0^(0))^-1 prod exp(-A_i s_i) of every frame, the last one first.", 1,
           _per_frame("T_inverse", 4, 4, unit="1, m"), inverses),
    _entry("partial_products", "Products of the exponentials before each one between base and tip, and their inverses.", 1,
           _partial_outputs, partial_products),
    _entry("transfer_factors", "ME(V_i1), ME(V_i2), ME(V_i3), M_iv: their product is column i of the linear Jacobian.", 1,
           _factor_outputs, transfer_factors),
    _entry("jacobian", "Tip Jacobian by matrix exponentials.", 1, _jacobian("J"), jacobian),
    _entry("jacobian_rate", "Time derivative of the tip Jacobian by matrix exponentials.", 2, _jacobian("Jd"), jacobian_rate),
    _entry("differentials", "A_ki = dT_n0/dq_i of the tip: A_i inserted before the i-th exponential.", 1,
           _on_the_way("A", 1), differentials),
    _entry("second_differentials", "A_kjm = d2T_n0/dq_j dq_m of the tip: A_m and A_j inserted.", 1,
           _on_the_way("A", 1, 2), second_differentials),
    _entry("velocities", "Velocities of every frame by matrix exponentials, in base components.", 2,
           _per_frame("V", 6, unit="m/s, rad/s"), velocities),
    _entry("accelerations", "Accelerations of every frame by matrix exponentials, in base components.", 3,
           _per_frame("A", 6, unit="m/s^2, rad/s^2"), accelerations),
)  # fmt: skip
