"""
A free-flying satellite: an arm moves, and the hub answers
==========================================================

In free flight nothing holds the base. When the arm of a satellite moves, the hub turns the other way, and its solar
panels ring. Momentum does not change; attitude does, even if the arm comes back to where it began.
"""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

import elastogen

# %%
# The robot
# ---------
# ``satellite`` is built in: a hub of 400 kg on a floating joint, two flexible panels of 6 m and an arm with two
# joints. Its position has a quaternion, so q has one number more than the velocities.

robot = elastogen.load("satellite")
OUTPUTS = ["simulation", "forward_kinematics", "centroidal_momentum", "center_of_mass"]
model = elastogen.build_model(robot, outputs=OUTPUTS)
print(model.nq, model.nv, model.velocity_names)
shoulder, elbow = (model.velocity_names.index(name) for name in ("shoulder", "elbow"))
q_shoulder, q_elbow = (model.coordinate_names.index(name) for name in ("shoulder", "elbow"))

# %%
# Around a square in the space of the joints
# ------------------------------------------
# Shoulder out, elbow out, shoulder back, elbow back, each in eight seconds by a quintic. PD controllers in the joints
# follow it; no thruster fires.

SECONDS, CORNERS = 8.0, np.array([[0, 0], [1.4, 0], [1.4, 1.8], [0, 1.8], [0, 0]])


def reference(t):
    """Joint angles and rates of the square (2,) each."""
    side = int(np.clip(t // SECONDS, 0, 3))
    x = np.clip(t / SECONDS - side, 0.0, 1.0)
    step = CORNERS[side + 1] - CORNERS[side]
    rate = (30 * x**2 - 60 * x**3 + 30 * x**4) / SECONDS
    return CORNERS[side] + step * (10 * x**3 - 15 * x**4 + 6 * x**5), step * rate


def drives(t, q, qd):
    angle, rate = reference(t)
    F = np.zeros(model.nv)
    F[shoulder] = 300 * (angle[0] - q[q_shoulder]) + 200 * (rate[0] - qd[shoulder])
    F[elbow] = 150 * (angle[1] - q[q_elbow]) + 100 * (rate[1] - qd[elbow])
    return F


times = np.linspace(0.0, 4 * SECONDS, 321)
motion = model.simulate(model.neutral(), t=times, F=drives, rtol=1e-6, atol=1e-8)

# %%
# What cannot change
# ------------------
# Only inner forces act: linear and angular momentum stay zero, and the centre of mass stays where it is.

momentum = model.centroidal_momentum(motion.q, motion.qd)
assert np.abs(momentum).max() < 1e-4  # [N s], [N m s]
center = model.center_of_mass(motion.q)
assert np.abs(center - center[0]).max() < 1e-4

# %%
# What does change
# ----------------
# The arm is back, the hub is not: the yaw angle has changed. For a planar chain of three rigid bodies the change is
# an integral over the path of the joints, dyaw = -(h_1 dq_1 + h_2 dq_2) / h_0 with the inertias h that the whole, the
# arm and the forearm have about the common centre of mass. It is worked out here by hand, from masses and lengths,
# without the model. The plane leaves out one percent: the arm swings 0.4 m above the hub's centre, which therefore
# rolls a little, too.

hub = model.coordinate_names.index("base.qx")
x, y, z, w = motion.q[:, hub : hub + 4].T
yaw = np.unwrap(2 * np.arctan2(z, w))


def momentum_by_hand(angles, rates, yaw_rate):
    """Angular momentum about the common centre of mass of hub, rigid panels and arm, in the plane [N m s]."""
    panels = 2 * 2.0 * 6.0  # [kg]
    masses = np.array([400.0 + panels, 12.0, 8.0])
    panel_inertia = 2 * (12.0 * 36.0 / 12 + 12.0 * (0.8 + 3.0) ** 2)
    inertias = np.array([160.0 + panel_inertia, 1.6, 0.8])
    a, b = angles[0], angles[0] + angles[1]
    wa, wb = yaw_rate + rates[0], yaw_rate + rates[0] + rates[1]
    root, upper, fore = np.array([0.8, 0.0]), np.array([np.cos(a), np.sin(a)]), np.array([np.cos(b), np.sin(b)])
    places = np.array([0 * root, root + 0.6 * upper, root + 1.2 * upper + 0.5 * fore])
    rotated_by = np.array([0 * root, yaw_rate * root + 0.6 * wa * upper, yaw_rate * root + 1.2 * wa * upper + 0.5 * wb * fore])
    speeds = np.column_stack([-rotated_by[:, 1], rotated_by[:, 0]])  # a quarter turn on
    own = inertias @ np.array([yaw_rate, wa, wb])
    r = places - masses @ places / masses.sum()
    v = speeds - masses @ speeds / masses.sum()
    return own + np.sum(masses * (r[:, 0] * v[:, 1] - r[:, 1] * v[:, 0]))


joints = motion.q[:, [q_shoulder, q_elbow]]
rotated = 0.0
for before, after in pairwise(joints):
    angles, steps = (before + after) / 2, after - before
    by_arm = momentum_by_hand(angles, steps, 0.0)
    rotated -= by_arm / (momentum_by_hand(angles, steps, 1.0) - by_arm)
print(f"yaw after the square: {np.degrees(yaw[-1]):.3f} deg, by hand {np.degrees(rotated):.3f} deg")
assert np.isclose(yaw[-1], rotated, rtol=0.02)
assert abs(np.degrees(yaw[-1])) > 0.1

# %%
# The picture: the hub turns against the arm and does not come back, and the panels ring, because the arm swings above
# the plane of the panels.

panel = model.coordinate_names.index("left_panel.z1")
figure, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
for k, alpha in ((0, 0.25), (80, 0.5), (160, 1.0)):
    frames = model.forward_kinematics(motion.q[k])[:, :3, 3]
    names = list(model.frame_names)
    arm = frames[[names.index(name) for name in ("hub", "upper_arm", "forearm")] + [len(frames) - 1]]
    left.plot(arm[:, 0], arm[:, 1], "o-", color="tab:blue", alpha=alpha, label=f"{motion.t[k]:.0f} s")
left.set(xlabel="x [m]", ylabel="y [m]", aspect="equal", title="hub and arm from above")
left.legend(frameon=False)
middle.plot(times, np.degrees(yaw))
middle.axhline(np.degrees(rotated), ls="--", color="0.5", label="by hand")
middle.set(xlabel="t [s]", ylabel="yaw of the hub [deg]", title="the arm returns, the hub does not")
middle.legend(frameon=False)
right.plot(times, motion.q[:, panel : panel + 2], label=model.coordinate_names[panel : panel + 2])
right.set(xlabel="t [s]", ylabel="left panel [m]", title="the panels ring")
right.legend(frameon=False)
for axes in (left, middle, right):
    axes.grid(alpha=0.3)
