"""Random robots: tilts of any size between axes, slides, trees, free bases, followers, flexible links; against other tools."""

from __future__ import annotations

import warnings
from typing import Any

import dalembert
import mpmath
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import elastogen
from elastogen.generator.functions.derivation import derive_model

GRAVITY = [0.5, -1.0, -9.0]
FUNCTIONS = ("mass_matrix", "inverse_dynamics", "forward_dynamics", "coriolis_vector", "gravity_vector", "kinetic_energy")
COUNT = 20  # robots; more in the nightly test


def turned(rng: np.random.Generator) -> Rotation:
    """Of a joint's axis against the one before: tilted by 1e-12 to 1e-2, perpendicular, anyhow, or not at all."""
    spin = Rotation.from_rotvec([0, 0, rng.uniform(-3, 3)])
    kind, direction = rng.choice(["tilt", "right", "any", "none"], p=[0.55, 0.2, 0.15, 0.1]), rng.uniform(0, 2 * np.pi)
    tilt = {"tilt": 10.0 ** rng.uniform(-12, -2), "right": np.pi / 2, "any": rng.uniform(0, 3), "none": 0.0}[kind]
    if kind == "right":
        direction = np.pi / 2 * rng.integers(4)
    return Rotation.from_rotvec(tilt * np.array([np.cos(direction), np.sin(direction), 0])) * spin


def body(rng: np.random.Generator) -> dict[str, Any]:
    """Mass, centre and tensor of six points."""
    points = rng.normal(size=(6, 3)) * 0.1
    tensor = sum(float(p @ p) * np.eye(3) - np.outer(p, p) for p in points)
    return {"mass": float(rng.uniform(0.5, 2)), "com": rng.uniform(-0.2, 0.2, 3).tolist(), "inertia": tensor.tolist()}


def joint(number: int, parent: int, rng: np.random.Generator) -> dict[str, Any]:
    """On the z axis of its frame, or on a tilted axis of an untilted frame."""
    turn, axis = turned(rng), np.array([0.0, 0.0, 1.0])
    if rng.random() < 0.3:
        axis, turn = turn.apply(axis), Rotation.identity()
    placement = {"xyz": rng.uniform(-0.4, 0.4, 3).tolist(), "rpy": turn.as_euler("xyz").tolist()}
    return {"name": f"j{number}", "type": str(rng.choice(["revolute", "prismatic"], p=[0.75, 0.25])), "axis": axis.tolist(),
            "parent": f"l{parent}", "child": f"l{number}", "placement": placement}  # fmt: skip


def rigid(seed: int) -> dict[str, Any]:
    """A tree of three to five joints, one of which may follow another, on a fixed or a free base."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(3, 6))
    parents = [0]
    for k in range(1, count):  # on the way inwards from the last link: depth-first, as Pinocchio wants them
        parents.append(k if rng.random() < 0.7 else parents[-1])
    joints = [joint(k, parent, rng) for k, parent in enumerate(parents, 1)]
    if rng.random() < 0.3:
        joints[-1]["follows"] = f"{rng.uniform(-2, 2)!r}*q('j1') + {rng.uniform(-1, 1)!r}"
    base = {"base": "floating"} if rng.random() < 0.3 else {}
    links = [{"name": f"l{k}", **body(rng)} for k in range(count + 1)]
    return {"elastogen": 1, "name": "random", "gravity": GRAVITY, "links": links, "joints": joints, **base,
            "tip": {"link": f"l{count}"}}  # fmt: skip


def derived(file: dict[str, Any], names: tuple[str, ...], **options: Any) -> tuple[Any, dict[str, Any]]:
    """The robot, and its programs; no comparison within may be in doubt."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", elastogen.RobotWarning)
        robot = elastogen.load(file, **options)
        return robot, {f.name: f.program for f in derive_model(robot, names).functions}


def in_pinocchio(file: dict[str, Any]) -> tuple[Any, Any, Any]:
    """The model without followers, the velocities of all joints by ours, and what is added to q."""
    pinocchio = pytest.importorskip("pinocchio")
    model, ends, order = pinocchio.Model(), {"l0": 0}, {"l0": pinocchio.SE3.Identity()}
    free = 0
    if "base" in file:
        ends["l0"], free = model.addJoint(0, pinocchio.JointModelFreeFlyer(), order["l0"], "root"), 6
        link = file["links"][0]
        own = pinocchio.Inertia(link["mass"], np.array(link["com"]), np.array(link["inertia"]))
        model.appendBodyToJoint(ends["l0"], own, pinocchio.SE3.Identity())
    kinds = {"revolute": pinocchio.JointModelRevoluteUnaligned, "prismatic": pinocchio.JointModelPrismaticUnaligned}
    for each, link in zip(file["joints"], file["links"][1:], strict=True):
        R = Rotation.from_euler("xyz", each["placement"]["rpy"]).as_matrix()
        place = pinocchio.SE3(R, np.array(each["placement"]["xyz"]))
        motion = kinds[each["type"]](np.array(each["axis"]) / np.linalg.norm(each["axis"]))
        ends[each["child"]] = end = model.addJoint(ends[each["parent"]], motion, place, each["name"])
        own = pinocchio.Inertia(link["mass"], np.array(link["com"]), np.array(link["inertia"]))
        model.appendBodyToJoint(end, own, pinocchio.SE3.Identity())
    model.gravity.linear = np.array(GRAVITY)
    followers = [j for j in file["joints"] if "follows" in j]
    own = [j["name"] for j in file["joints"] if "follows" not in j]
    S, added = np.zeros((model.nv, free + len(own))), np.zeros(model.nv)
    S[:free, :free] = np.eye(free)
    for each in file["joints"]:
        row = model.joints[model.getJointId(each["name"])].idx_v
        if each in followers:
            factor, _, rest = each["follows"].partition("*")
            S[row, free], added[row] = float(factor), float(rest.partition("+")[2])
        else:
            S[row, free + own.index(each["name"])] = 1.0
    return model, S, added


def coriolis_terms(model: Any, q: np.ndarray, S: np.ndarray, v: np.ndarray) -> float:
    """The size of the terms of which Coriolis forces are a sum: these may cancel, and no digit is left of what remains."""
    pinocchio = pytest.importorskip("pinocchio")
    data, bodies = model.createData(), range(1, model.njoints)
    pinocchio.forwardKinematics(model, data, q, S @ v, np.zeros(model.nv))
    pinocchio.computeJointJacobians(model, data, q)
    total = np.zeros(model.nv)
    for k in bodies:
        J = pinocchio.getJointJacobian(model, data, k, pinocchio.LOCAL)
        inertia, moved = np.abs(model.inertias[k].matrix()), np.abs(data.v[k].vector)
        turned = np.abs(pinocchio.Motion(data.v[k]).action)
        total += np.abs(J).T @ (inertia @ np.abs(data.a[k].vector) + turned.T @ inertia @ moved)
    return float((np.abs(S).T @ total).max())


def rigid_error(seed: int, **options: Any) -> dict[str, float]:
    """The worst error of every function, relative to the largest entry."""
    file = rigid(seed)
    pinocchio = pytest.importorskip("pinocchio")
    model, S, added = in_pinocchio(file)
    robot, programs = derived(file, FUNCTIONS, **options)
    names, rng = [j.name for j in robot.joints if j.type.moves and j.coupling is None], np.random.default_rng(seed + 1000)
    free = 6 if "base" in file else 0
    # velocities of ours in the order of ``names``, the free base first; those of S in the order of the file
    order = [
        *range(free),
        *(free + [j["name"] for j in file["joints"] if "follows" not in j].index(n) for n in names[free // 6 :]),
    ]
    v, a = rng.normal(size=(2, S.shape[1]))
    q = rng.normal(size=S.shape[1])
    full, data = np.zeros(model.nq), model.createData()
    moving = added + S @ q
    if free:
        root = pinocchio.SE3(Rotation.from_rotvec(q[3:6]).as_matrix(), q[:3])
        full[:7] = pinocchio.SE3ToXYZQUAT(root)
        full[7:] = moving[6:]
    else:
        full[:] = moving
    x = np.concatenate([full[:7], q[order][6:]]) if free else q[order]
    M = pinocchio.crba(model, data, full)
    M = S.T @ (np.triu(M) + np.triu(M, 1).T) @ S
    G = S.T @ pinocchio.computeGeneralizedGravity(model, data, full)
    weightless = model.copy()
    weightless.gravity.linear = np.zeros(3)
    C = S.T @ pinocchio.nonLinearEffects(weightless, data, full, S @ v)
    expected = {
        "mass_matrix": M[np.ix_(order, order)], "gravity_vector": G[order], "coriolis_vector": C[order],
        "inverse_dynamics": (M @ a + C + G)[order], "forward_dynamics": np.linalg.solve(M, a - C - G)[order],
        "kinetic_energy": np.array(v @ M @ v / 2),
    }  # fmt: skip
    state = {"q": x, "qd": v[order], "qdd": a[order], "F": a[order]}
    terms = {"coriolis_vector": coriolis_terms(weightless, full, S, v) * 1e-3}  # so 1e-11 of the result, or 1e-14 of these
    errors = {}
    for name, program in programs.items():
        (found,) = program.evaluate({argument.name: state[argument.name] for argument in program.inputs}).values()
        size = max(np.abs(expected[name]).max(), terms.get(name, 0.0), np.finfo(float).tiny)
        errors[name] = float(np.abs(found - expected[name]).max() / size)
    condition = np.linalg.cond(M)
    errors["forward_dynamics"] /= max(1.0, condition / 100)
    return errors


@pytest.mark.parametrize("options", [{"snap": False}, {}], ids=["literally", "snapped"])
def test_random_rigid_robots_agree_with_pinocchio(options):
    for seed in range(COUNT if "snap" in options else 5):
        errors = rigid_error(seed, **options)
        assert max(errors.values()) < (1e-11 if "snap" in options else 1e-9), (seed, errors)


def flexible(seed: int) -> dict[str, Any]:
    """Three joints in a row, nearly parallel or behind a perpendicular axis; one or two links are point masses that bend."""
    rng = np.random.default_rng(seed)
    joints = [joint(k, k - 1, rng) for k in (1, 2, 3)]
    links: list[dict[str, Any]] = [{"name": "l0"}]
    bent = {int(rng.integers(1, 3)), int(rng.integers(1, 4))}
    for k in (1, 2, 3):
        link = {"name": f"l{k}", **body(rng)}
        if k in bent:
            modes = [{"name": f"b{m}", "tip_displacement": rng.uniform(-1, 1, 3).tolist(),
                      "tip_rotation": rng.uniform(-1, 1, 3).tolist()} for m in range(int(rng.integers(1, 3)))]  # fmt: skip
            nodes = [{"mass": float(rng.uniform(0.1, 0.5)), "position": rng.uniform(-0.5, 0.5, 3).tolist(),
                      "displacements": rng.uniform(-1, 1, (len(modes), 3)).tolist()} for _ in range(3)]  # fmt: skip
            stiffness = np.diag(rng.uniform(5, 50, len(modes))).tolist()
            place = {"xyz": rng.uniform(-0.4, 0.4, 3).tolist()}
            link["flexible"] = {
                "type": "lumped_masses",
                "modes": modes,
                "nodes": nodes,
                "stiffness": stiffness,
                "tip_frame": place,
            }
        links.append(link)
    return {"elastogen": 1, "name": "bent", "gravity": GRAVITY, "links": links, "joints": joints, "tip": {"link": "l3"}}


def oracle(file: dict[str, Any], names: tuple[str, ...]) -> tuple[Any, list[Any], np.ndarray]:
    """Poses of all bodies by q, their inertia, and the diagonal of K; all from the file alone, in 50 digits."""
    index = {name: k for k, name in enumerate(names)}
    bodies, K = [], np.zeros(len(names))
    for link in file["links"][1:]:
        entries = {"xx": (0, 0), "yy": (1, 1), "zz": (2, 2), "xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}
        tensor = {key: link["inertia"][r][c] for key, (r, c) in entries.items()}
        bodies.append(dalembert.pseudo_inertia(link["mass"], link["com"], tensor))
        for node in link.get("flexible", {}).get("nodes", ()):
            bodies.append(dalembert.pseudo_inertia(node["mass"], [0, 0, 0], dict.fromkeys(tensor, 0.0)))
        for m, mode in enumerate(link.get("flexible", {}).get("modes", ())):
            K[index[f"{link['name']}.{mode['name']}"]] = link["flexible"]["stiffness"][m][m]

    def poses(q: Any) -> list[Any]:
        ends, found = {"l0": mpmath.eye(4)}, []
        for each, link in zip(file["joints"], file["links"][1:], strict=True):
            at = ends[each["parent"]]
            for k in range(3)[::-1]:  # rpy: about z, then y, then x
                turn = [each["placement"]["rpy"][k] if i == k else 0 for i in range(3)]
                at = at * (dalembert.moved(*map(mpmath.mpf, each["placement"]["xyz"])) if k == 2 else mpmath.eye(4))
                at = at * dalembert.exponential([mpmath.mpf(x) for x in turn])
            axis = [mpmath.mpf(x) for x in each["axis"]]
            length = mpmath.sqrt(sum(x * x for x in axis))
            factor, _, rest = each.get("follows", "1*q+0").partition("*")
            leader = index["j1" if "follows" in each else each["name"]]
            moving = mpmath.mpf(float(factor)) * q[leader] + mpmath.mpf(float(rest.partition("+")[2]))
            along = [x / length * moving for x in axis]
            at = at * (dalembert.exponential(along) if each["type"] == "revolute" else dalembert.moved(*along))
            found.append(at)
            if "flexible" in link:
                own = [q[index[f"{link['name']}.{mode['name']}"]] for mode in link["flexible"]["modes"]]

                def summed(start: Any, fields: Any, own: Any = own) -> list[Any]:
                    return [mpmath.mpf(start[k]) + sum(x * mpmath.mpf(f[k]) for x, f in zip(own, fields, strict=True))
                            for k in range(3)]  # fmt: skip

                found += [at * dalembert.moved(*summed(n["position"], n["displacements"])) for n in link["flexible"]["nodes"]]
                modes = link["flexible"]["modes"]
                at = at * dalembert.moved(*summed(link["flexible"]["tip_frame"]["xyz"], [m["tip_displacement"] for m in modes]))
                at = at * dalembert.exponential(summed([0, 0, 0], [m["tip_rotation"] for m in modes]))
            ends[each["child"]] = at
        return found

    return poses, bodies, K


@pytest.mark.parametrize("seed", [1033, 1067, 1216])
def test_coriolis_forces_that_nearly_cancel_are_right_in_the_digits_that_are_left(seed):
    """Of these, Pinocchio has fewer digits than the bound wants: 50 digits judge both, each by the size of the terms."""
    file = rigid(seed)
    model, S, added = in_pinocchio(file)
    robot, programs = derived(file, ("coriolis_vector",), snap=False)
    names = [joint["name"] for joint in file["joints"] if "follows" not in joint]
    assert robot.coordinate_names == tuple(names)
    rng = np.random.default_rng(seed)
    q, qd = rng.normal(size=(2, len(names)))
    poses, bodies, _ = oracle(file, robot.coordinate_names)
    exact = dalembert.inverse_dynamics(poses, bodies, [0, 0, 0], q, qd, 0 * q).astype(float)
    (found,) = programs["coriolis_vector"].evaluate({"q": q, "qd": qd}).values()
    terms = coriolis_terms(model, added + S @ q, S, qd)
    assert np.abs(exact).max() < 1e-6 * terms
    assert np.abs(found - exact).max() < 1e-15 * terms


def flexible_error(seed: int, **options: Any) -> dict[str, float]:
    """Inverse dynamics by d'Alembert's principle; forward dynamics by its forces."""
    file = flexible(seed)
    robot, programs = derived(file, ("inverse_dynamics", "forward_dynamics"), **options)
    n = len(robot.coordinates)
    poses, bodies, K = oracle(file, robot.coordinate_names)
    rng = np.random.default_rng(seed)
    q, qd, qdd = rng.normal(size=(3, n)) * np.where(K > 0, 0.2, 1.0)
    F = dalembert.inverse_dynamics(poses, bodies, GRAVITY, q, qd, qdd).astype(float) + K * q
    (found,) = programs["inverse_dynamics"].evaluate({"q": q, "qd": qd, "qdd": qdd}).values()
    (back,) = programs["forward_dynamics"].evaluate({"q": q, "qd": qd, "F": F}).values()
    (again,) = programs["inverse_dynamics"].evaluate({"q": q, "qd": qd, "qdd": back}).values()
    size = np.abs(F).max()
    return {"inverse": float(np.abs(found - F).max() / size), "forward": float(np.abs(again - F).max() / size)}


def test_random_flexible_robots_agree_with_dalembert():
    for seed in range(5):
        errors = flexible_error(seed, snap=False)
        assert max(errors.values()) < 1e-11, (seed, errors)


@pytest.mark.nightly
def test_many_random_robots():
    for seed in (*range(COUNT, 50), *range(1000, 1600)):
        assert max(rigid_error(seed, snap=False).values()) < 1e-11, seed
    for seed in range(1000, 1100):
        assert max(flexible_error(seed, snap=False).values()) < 1e-11, seed
