"""
A planar robot of paper 003: a slide, a turning joint and a beam of finite elements
===================================================================================

Paper 003 (My, Bien, Le, Packianather) simulates a robot P_a R: a rigid link on a slide carries a flexible one of
three elements, with a payload at its end, in the horizontal plane. Its numbers are in Table 3. Here it moves beside
the rigid robot of the same numbers, and three things that must be true are checked: energy, the frequency of what
rings, and the limit of a stiff link.
"""

import matplotlib.pyplot as plt
import numpy as np

import elastogen

# %%
# The robot
# ---------
# The compact form of planar robots has one line per link. EI is a live parameter: one compiled model serves for every
# stiffness. Points along the beam are there for the picture.

NODES = 25
robot = elastogen.load(
    {
        "elastogen": 1,
        "name": "slide_and_beam",
        "parameters": {"EI": {"value": 2.0e10 * 9.0e-11, "unit": "N m^2"}},
        "live": ["EI"],
        "planar": {
            "links": [
                {"joint": "Pa", "gamma": "pi/2", "length": 0.2, "rigid": True, "mass": 1.4},
                {"joint": "R", "length": 0.8, "mass_per_length": 0.942, "EI": "EI", "elements": 3},
            ],
            "payload": {"mass": 0.1},
        },
        "points": [{"name": f"node{k}", "link": "link2", "xyz": [0.8 * k / (NODES - 1), 0, 0]} for k in range(NODES)],
    }
)
model = elastogen.build_model(
    robot, outputs=["simulation", "mass_matrix", "coriolis_matrix", "stiffness_matrix", "point_positions"]
)
rigid = elastogen.build_model(elastogen.rigid_robot(robot), outputs=["simulation", "point_positions"])
print(model.coordinate_names)

# %%
# Bang-bang forces
# ----------------
# Force on the slide and torque on the joint, one way and then the other, at an end after half a second: the rigid
# robot is then at rest but for what the links do to each other.


def drive(size, joints):
    force = np.zeros(size)
    force[list(joints)] = [3.0, 0.05]  # [N], [N m]
    return elastogen.BangBang(force, 0.5)


times = np.linspace(0.0, 2.0, 401)
bent = model.simulate(np.zeros(model.nq), t=times, F=drive(model.nq, model.driven), method="generalized_alpha", step=5e-4)
stiff = rigid.simulate(np.zeros(2), t=times, F=drive(2, (0, 1)))

# %%
# Energy: what the forces put in is in the robot. The work is integrated beside the motion, so nothing of the model's
# own equations hides in this check. ``generalized_alpha`` is a second-order method: steps of half a millisecond leave
# a few parts in a thousand.

put_in = bent.work[-1]
assert abs(bent.balance).max() < 0.01 * np.abs(bent.work).max()
print(f"work of the drives {put_in:.4f} J, kinetic {bent.kinetic[-1]:.4f} J, bending {bent.potential[-1]:.4f} J")

# %%
# What rings: after the forces have ended the joints are free, and so is the mode that rings.

free = model.modes(bent.q[-1], joints="free")
lowest = free.frequencies[free.frequencies > 1.0][0]
tip = model.coordinate_names.index("link2.y3")
after = times > 0.6
swing = bent.q[after, tip] - bent.q[after, tip].mean()
crossings = times[after][1:][np.diff(np.sign(swing)) != 0]
measured = np.pi / np.mean(np.diff(crossings))
assert np.isclose(measured, lowest, rtol=0.03)
print(f"measured {measured / (2 * np.pi):.2f} Hz, mode with free joints {lowest / (2 * np.pi):.2f} Hz")

# %%
# The passivity that controllers rely on: dM/dt - 2C is skew, elastic coordinates included. dM/dt along the motion is
# taken by a difference here.

rng = np.random.default_rng(0)
q, qd = 0.1 * rng.standard_normal((2, model.nq))
h = 1e-6
rate = (model.mass_matrix(q + h * qd) - model.mass_matrix(q - h * qd)) / (2 * h)
N = rate - 2 * model.coriolis_matrix(q, qd)
assert np.abs(N + N.T).max() < 1e-8 * np.abs(model.mass_matrix(q)).max()

# %%
# The limit of a stiff link: with a hundred times the stiffness the robot follows the rigid one a hundred times
# closer.


def deviation(EI):
    """Largest distance between the ends of both robots at the rigid robot's times [m], forces switched softly."""
    t = np.linspace(0.0, 0.5, 51)
    push = np.outer(np.sin(2 * np.pi * t / 0.5) ** 3, [3.0, 0.05])
    F = np.zeros((len(t), model.nq))
    F[:, list(model.driven)] = push
    flexible = model.simulate(
        np.zeros(model.nq), t=t, F=elastogen.Table(t, F, "linear"), parameters={"EI": EI}, method="generalized_alpha", step=5e-4
    )
    reference = rigid.simulate(np.zeros(2), t=t, F=elastogen.Table(t, push, "linear"))
    ends = model.point_positions(flexible.q)[:, -1], rigid.point_positions(reference.q)[:, -1]
    return np.linalg.norm(ends[0] - ends[1], axis=-1).max()


near, nearer = deviation(1.8e2), deviation(1.8e4)
print(f"EI x 100: {1e3 * near:.4f} mm; EI x 10000: {1e3 * nearer:.5f} mm")
assert 50 < near / nearer < 200

# %%
# The picture: both robots every tenth of a second until the forces have ended. They part where the beam bends.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), width_ratios=[1, 1.6], layout="constrained")
for one, motion, colors in ((rigid, stiff, plt.cm.Greys), (model, bent, plt.cm.Blues)):
    for k, places in enumerate(one.point_positions(motion.q[:121:20])):
        left.plot(places[:, 0], places[:, 1], color=colors(0.25 + 0.1 * k), lw=1.5)
left.set(xlabel="x [m]", ylabel="y [m]", title="the beam every 0.1 s, late ones dark;\ngrey: the rigid robot")
right.plot(times, 1e3 * bent.q[:, tip])
right.axvspan(0.0, 0.5, color="tab:orange", alpha=0.15, label="forces act")
right.set(xlabel="t [s]", ylabel="deflection of the end [mm]", title="the beam rings at the free mode")
right.legend(frameon=False)
for axes in (left, right):
    axes.grid(alpha=0.3)
