"""Random robots with noise: truth lies in the intervals that identification gives; few runs here, 200 in the nightly tests."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import elastogen

pytest.importorskip("scipy")

from elastogen.identification.equations.pseudo_inertia import of_body

QUANTILE = 2.576  # 99 % of a normal distribution
RIGID = ["inertia", "viscous", "coulomb", "offset", "rotor"]
ELASTIC = ["stiffness", "joint_damping", "joints.*.friction.viscous", "links.l3.mass"]
FLEXIBLE = ["EI", "mass_per_length", "link_damping", "joints.*.friction.viscous", "links.l3.mass"]


def robot(seed, kind):
    """Three to five links on joints about random axes; elastic gears, or a boom in the middle that bends."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(3, 6)) if kind == "rigid" else 3
    links, joints = [{"name": "base"}], []
    for k in range(1, count + 1):
        a, b, c = rng.uniform(0.005, 0.03, 3)  # sums of two: a body that can exist
        com = [float(x) for x in rng.uniform(-0.1, 0.2, 3)]
        link = {
            "name": f"l{k}",
            "mass": float(rng.uniform(0.5, 3)),
            "com": com,
            "inertia": [float(b + c), float(c + a), float(a + b)],
        }
        axis = np.eye(3)[rng.integers(3)] + 0.2 * rng.normal(size=3)
        friction = {"viscous": float(rng.uniform(0.3, 1.5))}
        if kind == "rigid":
            friction |= {"coulomb": float(rng.uniform(0.3, 1.5)), "offset": float(rng.uniform(-0.3, 0.3))}
        joint = {
            "name": f"j{k}", "type": "revolute", "child": f"l{k}", "axis": [float(x) for x in axis / np.linalg.norm(axis)],
            "placement": {"xyz": [float(x) for x in rng.uniform(-0.1, 0.3, 3)]},
            "motor": {"inertia": float(rng.uniform(0.05, 0.2))}, "friction": friction,
        }  # fmt: skip
        if kind == "elastic":
            joint["elasticity"] = {"stiffness": float(rng.uniform(300, 1500)), "damping": float(rng.uniform(1, 4))}
        if kind == "flexible" and k == 2:
            link["flexible"] = {
                "type": "modes", "length": 0.5, "mass_per_length": float(rng.uniform(0.2, 0.6)),
                "EI": float(rng.uniform(30, 80)), "damping": {"rayleigh": {"beta": float(rng.uniform(0.002, 0.006))}},
                "modes": [{"direction": "y", "shape": "(x/L)**2"}, {"direction": "z", "shape": "(x/L)**2"}],
            }  # fmt: skip
        links.append(link)
        joints.append(joint)
    points = [{"name": "gauge", "link": "l2", "x": 0.05, "strain": {"direction": "y", "offset": 0.002}}]
    return {"elastogen": 1, "name": f"random{seed}", "gravity": [0, 0, -9.81], "links": links, "joints": joints} | (
        {"points": points} if kind == "flexible" else {}
    )


def course(seed, columns, t, speeds):
    """Sums of sines: q, qd, qdd (n, columns)."""
    rng = np.random.default_rng(seed)
    found = np.zeros((3, len(t), columns))
    for w in speeds:
        a, p = 0.5 * rng.uniform(0.4, 1, columns) / np.sqrt(w), rng.uniform(0, 6, columns)
        for order in range(3):
            found[order] += a * w**order * np.sin(np.outer(t, np.full(columns, w)) + p + order * np.pi / 2)
    return found


def noisy(run, size, seed):
    rng = np.random.default_rng(seed)
    return {
        name: x + size * np.std(x, axis=0) * rng.standard_normal(np.shape(x)) if name.startswith(("F", "point")) else x
        for name, x in run.items()
    }


def rigid_truth(seed):
    """Described numbers that are wrong, a run without noise, and the true value of every variable."""
    true = robot(seed, "rigid")
    model = elastogen.build_model(true, outputs=["inverse_dynamics"])
    t = np.arange(0, 10, 0.01)
    q, qd, qdd = course(seed, model.nq, t, (1.3, 2.9, 4.7, 7.1))
    guess = copy.deepcopy(true)
    for link in guess["links"][1:]:
        link["mass"] *= 1.2
    for joint in guess["joints"]:
        joint["friction"]["viscous"] *= 1.5
        joint["friction"]["coulomb"] *= 0.7
    bodies = [of_body(link["mass"], np.array(link["com"]), np.diag(link["inertia"])) for link in true["links"][1:]]
    return (
        guess,
        {"time": t, "q": q, "qd": qd, "qdd": qdd, "F": model.inverse_dynamics(q, qd, qdd)},
        np.concatenate(bodies),
        true,
    )


def base_errors(result, bodies, true):
    """Base parameters of bodies and friction less the true ones."""
    order = {estimate.name: k for k, estimate in enumerate(result.estimates)}
    z = np.concatenate([bodies, np.zeros(len(result.free.z) - len(bodies))])
    for joint in true["joints"]:
        for name, value in _law(joint):
            z[order[name]] = value
    return result.free.combinations @ (result.free.z - z)


def rigid_errors(seed, noise_seeds):
    """Per run: errors of base parameters over their standard errors."""
    guess, run, bodies, true = rigid_truth(seed)
    found = []
    for noise_seed in noise_seeds:
        result = elastogen.identify(guess, noisy(run, 0.03, noise_seed), parameters=RIGID, cutoff=0, consistent=False)
        sizes = np.sqrt(np.diag(result.free.covariance))[list(result.free.independent)]
        found.append(base_errors(result, bodies, true) / sizes)
    return found


def _law(joint):
    path = f"joints.{joint['name']}"
    yield f"{path}.motor.reflected_inertia", joint["motor"]["inertia"]
    for key, value in joint["friction"].items():
        yield f"{path}.friction.{key}", value


def elastic_truth(seed, kind):
    """Described numbers that are wrong, a run without noise, and the true numbers by their paths."""
    true = robot(seed, kind)
    outputs = ["inverse_dynamics"] + (["point_strains"] if kind == "flexible" else [])
    model = elastogen.build_model({**true, "live": ["links.l3.mass"]}, outputs=outputs, identification=["elastic_states"])
    t, finer = np.arange(0, 4, 0.005), 8
    fine = np.linspace(0, t[-1], finer * (len(t) - 1) + 1)
    states = np.zeros((3, len(fine), model.nv))
    states[:, :, list(model.driven)] = course(seed, len(model.driven), fine, (1.7, 4.1, 7.3, 11.9))
    found = model.elastic_states(0.005 / finer, *states)
    run = {"time": t}
    for k in model.driven:
        name = model.velocity_names[k]
        for key, x in (("q", states[0]), ("qd", states[1]), ("qdd", states[2]), ("F", found.F)):
            run[f"{key}.{name}"] = x[::finer, k]
    if kind == "flexible":
        run["point.gauge"] = model.point_strains(found.q[::finer])[:, 0]
    guess, numbers = copy.deepcopy(true), {"links.l3.mass": true["links"][3]["mass"]}
    guess["links"][3]["mass"] *= 1.2
    for joint, wrong in zip(true["joints"], guess["joints"], strict=True):
        numbers[f"joints.{joint['name']}.friction.viscous"] = joint["friction"]["viscous"]
        wrong["friction"]["viscous"] *= 0.7
        for key, value in joint.get("elasticity", {}).items():
            numbers[f"joints.{joint['name']}.elasticity.{key}"] = value
            wrong["elasticity"][key] = 1.3 * value
    if kind == "flexible":
        boom = guess["links"][2]["flexible"]
        for key in ("EI", "mass_per_length"):
            numbers[f"links.l2.flexible.{key}"] = boom[key]
            boom[key] *= 1.2
        numbers["links.l2.flexible.damping.rayleigh.beta"] = boom["damping"]["rayleigh"]["beta"]
        boom["damping"]["rayleigh"]["beta"] *= 0.8
    return guess, run, numbers


def elastic_errors(seed, noise_seeds, kind):
    guess, run, numbers = elastic_truth(seed, kind)
    found = []
    for noise_seed in noise_seeds:
        wanted = ELASTIC if kind == "elastic" else FLEXIBLE
        result = elastogen.identify(guess, noisy(run, 0.02, noise_seed), parameters=wanted, cutoff=0)
        assert {e.name for e in result.estimates} == set(numbers)
        found.append([(result[name].value - value) / result[name].standard_error for name, value in numbers.items()])
    return found


def inside(kind, robots, runs):
    errors = []
    for seed in robots:
        noise = range(1000 * seed, 1000 * seed + runs)
        errors += rigid_errors(seed, noise) if kind == "rigid" else elastic_errors(seed, noise, kind)
    return float(np.mean(np.abs(np.concatenate(errors)) < QUANTILE))


@pytest.mark.parametrize("kind", ["rigid", "elastic"])
def test_truth_is_within_the_intervals(kind):
    assert inside(kind, range(1), 3) >= 0.95


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["rigid", "elastic", "flexible"])
def test_truth_is_within_the_intervals_of_200_runs(kind):
    assert inside(kind, range(1, 11), 20) >= 0.95


@pytest.mark.parametrize("seed", [2, 3])
def test_without_noise_a_random_robot_comes_back(seed):
    guess, run, bodies, true = rigid_truth(seed)
    found = elastogen.identify(guess, run, parameters=RIGID, cutoff=0, consistent=False)
    assert np.abs(base_errors(found, bodies, true)).max() < 1e-8


@pytest.mark.parametrize("seed", [4, 5])
def test_a_law_without_coulomb_friction_is_told_from_a_right_one(seed):
    guess, run, _, true = rigid_truth(seed)
    for joint in guess["joints"]:
        joint["friction"] = {"viscous": joint["friction"]["viscous"]}
    poor = elastogen.identify(guess, noisy(run, 0.02, seed), parameters=["inertia", "viscous", "offset", "rotor"], cutoff=0)
    assert all(p < 1e-3 for p in poor.friction_test)
    assert sum("its law of friction lacks something" in text for text in poor.warnings) == len(true["joints"])
    right = elastogen.identify(true, noisy(run, 0.02, seed), parameters=RIGID, cutoff=0)
    assert all(p > 1e-3 for p in right.friction_test)
