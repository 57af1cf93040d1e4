"""
A flexible arm from strain gauges and encoders
==============================================

No encoder sees how a boom bends. A strain gauge does, and together with the encoders and the drives' forces it tells
how stiff and how heavy the boom is, how soft the gear, and how fast both stop ringing.
"""

import copy

import matplotlib.pyplot as plt
import numpy as np

import elastogen

# %%
# The real arm
# ------------
# A shoulder with an elastic gear, a boom that bends, a rigid hand. Near the boom's root a gauge is glued on its side.

REAL = {
    "elastogen": 1,
    "name": "boom_arm",
    "links": [
        {"name": "base"},
        {"name": "column", "mass": 1.0, "com": [0, 0, 0.1], "inertia": [0.02, 0.02, 0.02]},
        {
            "name": "boom",
            "mass": 0.5,
            "inertia": [0.01, 0.01, 0.01],
            "flexible": {
                "type": "modes",
                "length": 0.6,
                "mass_per_length": 0.3,
                "EI": 20.0,
                "damping": {"rayleigh": {"beta": 0.004}},
                "modes": [{"direction": "y", "eigenfunction": 1}, {"direction": "y", "eigenfunction": 2}],
            },
        },
        {"name": "hand", "mass": 0.4, "com": [0.1, 0, 0], "inertia": [0.002, 0.004, 0.004]},
    ],
    "joints": [
        {
            "name": "shoulder",
            "type": "revolute",
            "child": "column",
            "axis": [0, 0, 1],
            "motor": {"inertia": 0.05},
            "elasticity": {"stiffness": 300.0, "damping": 0.8},
            "friction": {"viscous": 0.5},
        },
        {"name": "elbow", "type": "revolute", "child": "boom", "axis": [0, 0, 1], "placement": {"xyz": [0.3, 0, 0]}},
        {"name": "wrist", "type": "revolute", "child": "hand", "axis": [0, 0, 1]},
    ],
    "points": [{"name": "gauge", "link": "boom", "x": 0.05, "strain": {"direction": "y", "offset": 0.002}}],
}
TRUE = {
    "links.boom.flexible.EI": 20.0,
    "links.boom.flexible.mass_per_length": 0.3,
    "links.boom.flexible.damping.rayleigh.beta": 0.004,
    "joints.shoulder.elasticity.stiffness": 300.0,
    "joints.shoulder.elasticity.damping": 0.8,
    "joints.shoulder.friction.viscous": 0.5,
}

# %%
# The log
# -------
# A controller drives the motors along sums of sines, 8 s, in a simulation of the whole arm. What is logged at 200 Hz:
# encoders of the motors, the controller's forces and the gauge, with noise. Elastic coordinates are not logged.

model = elastogen.build_model(REAL, outputs=["simulation", "point_strains"])
names = [model.velocity_names[k] for k in model.driven]
fine = np.arange(0, 8, 0.001)


def log(seed):
    rng = np.random.default_rng(seed)
    wanted = np.zeros((len(fine), model.nq))
    for k in model.driven:
        for w in (1.7, 4.1, 7.3, 11.9):
            wanted[:, k] += 0.4 * rng.uniform(0.4, 1) / w * np.sin(w * fine + rng.uniform(0, 6))
    wanted *= (1 - np.exp(-((fine / 0.5) ** 3)))[:, None]  # from rest
    motion = model.simulate(
        np.zeros(model.nq), t=fine, F=elastogen.PD(elastogen.Waypoints(fine, wanted), 400.0, 20.0),
        method="generalized_alpha", step=5e-4,
    )  # fmt: skip
    F = 400.0 * (wanted - motion.q) + 20.0 * (np.gradient(wanted, fine, axis=0, edge_order=2) - motion.qd)
    run = {"time": fine[::5], "point.gauge": model.point_strains(motion.q)[::5, 0]}
    for name, k in zip(names, model.driven, strict=True):
        run |= {f"q.{name}": motion.q[::5, k], f"F.{name}": F[::5, k]}
    for name, signal in run.items():
        size = 1e-5 if name.startswith("q.") else 0.0 if name == "time" else 0.02 * signal.std()
        run[name] = signal + size * rng.standard_normal(len(signal))
    return run


first, second = log(0), log(1)

# %%
# Identify
# --------
# The description that one starts from has wrong numbers. Named numbers are estimated by output error: the joints move as
# measured, the elastic coordinates follow by their equations of motion, and forces and strain are compared.

described = copy.deepcopy(REAL)
boom, shoulder = described["links"][2]["flexible"], described["joints"][0]
boom["EI"], boom["mass_per_length"], boom["damping"]["rayleigh"]["beta"] = 30.0, 0.4, 0.002
shoulder["elasticity"], shoulder["friction"] = {"stiffness": 200.0, "damping": 1.5}, {"viscous": 0.2}
found = elastogen.identify(described, first, parameters=list(TRUE), validate=second)
print(found.table())
for name, true in TRUE.items():
    assert abs(found[name].value - true) < 3 * found[name].standard_error, name
assert all(error < 0.02 for error in found.validated[0].channels.values())  # below the noise of 2 %, which is filtered

# %%
# Strain, before and after, on the log that was not seen
# ------------------------------------------------------
# Only friction is estimated for the first of both, which strain does not depend on: the joints move as measured.

guess = elastogen.identify(described, first, parameters=["joints.shoulder.friction.viscous"], validate=second)
figure, axes = plt.subplots(figsize=(8, 3), layout="constrained")
left = {}
for result, label in ((guess, "as described"), (found, "identified")):
    track, difference = result.compared(second)[0]
    time, place = track.motion.time[track.motion.rows], list(result.channels).index("point.gauge")
    if result is guess:
        axes.plot(time, 1e6 * track.measured[:, place], "k", linewidth=2, label="measured")
    axes.plot(time, 1e6 * (track.measured + difference)[:, place], "--", label=label)
    left[label] = np.sqrt(np.mean(difference[:, place] ** 2))
axes.set(xlabel="time [s]", ylabel="strain [1e-6]", xlim=(2, 4))
axes.legend(loc="upper right")
print({label: f"{1e6 * error:.1f}e-6" for label, error in left.items()})
assert left["identified"] < 0.1 * left["as described"]

# %%
# ``found.save("identified.yaml")`` writes the robot file with these numbers.
