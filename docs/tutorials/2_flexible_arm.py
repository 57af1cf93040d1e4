"""
A flexible arm: model it, look at its modes, damp it
====================================================

A strip of aluminium on a motor, with a load at its end. A fast move leaves it ringing. Two cures: move so that
nothing is left (input shaping), or let the motor take the vibration out (state feedback).
"""

import matplotlib.pyplot as plt
import numpy as np

import elastogen
from elastogen.runtime.loop.controllers import lqr
from elastogen.runtime.motion import shaping

# %%
# The model
# ---------
# 1 m x 30 mm x 5 mm, bending about its thin side. Three clamped-free eigenfunctions are its shapes, and 21 points
# along it are there to be looked at.

E, rho, width, height, L = 70e9, 2700.0, 0.030, 0.005, 1.0  # [N/m^2], [kg/m^3], [m]
EI, per_length = E * width * height**3 / 12, rho * width * height


def strip(tip_mass):
    beam = {
        "type": "modes",
        "length": L,
        "mass_per_length": per_length,
        "EI": EI,
        "modes": [{"direction": "y", "eigenfunction": k} for k in (1, 2, 3)],
        "damping": {"ratio": 0.003},
    }
    return {
        "elastogen": 1,
        "name": "strip",
        "live": ["payload"],
        "links": [{"name": "base"}, {"name": "beam", "flexible": beam}],
        "joints": [{"name": "hub", "type": "revolute", "child": "beam", "axis": [0, 0, 1], "motor": {"inertia": 0.05}}],
        "payload": {"mass": tip_mass},
        "points": [{"name": f"x{k}", "link": "beam", "xyz": [L * k / 20, 0, 0]} for k in range(21)],
    }


robot = elastogen.load(strip(0.0))
OUTPUTS = ["simulation", "mass_matrix", "stiffness_matrix", "forward_dynamics_derivatives", "point_positions"]
model = elastogen.build_model(robot, outputs=OUTPUTS)
print(model.coordinate_names)

# %%
# The modes
# ---------
# Without a load the clamped frequencies are those of every textbook: the roots of cos(b) cosh(b) = -1, w = b^2
# sqrt(EI / (m L^4)).

roots = np.array([1.875104068711961, 4.694091132974175, 7.854757438237613])
exact = roots**2 * np.sqrt(EI / (per_length * L**4))
rest = np.zeros(model.nq)
assert np.allclose(model.modes(rest, joints="locked").frequencies, exact, rtol=1e-10)

# %%
# With 0.2 kg at the end they fall, the first by two fifths. Its exact value is the first root of 1 + cos b cosh b + (M /
# m L) b (cos b sinh b - sin b cosh b) = 0. Three shapes that know nothing of the load are less than a thousandth above
# it: Rayleigh's bound is one from above.

model.parameters["payload_mass"] = load = 0.2
locked = model.modes(rest, joints="locked")


def loaded(b):
    return 1 + np.cos(b) * np.cosh(b) + load / (per_length * L) * b * (np.cos(b) * np.sinh(b) - np.sin(b) * np.cosh(b))


low, high = 0.5, 1.8  # the root is between: bisection
for _ in range(60):
    middle = (low + high) / 2
    low, high = (middle, high) if loaded(low) * loaded(middle) > 0 else (low, middle)
first = low**2 * np.sqrt(EI / (per_length * L**4))
assert 1.0 < locked.frequencies[0] / first < 1.001
assert 0.55 < locked.frequencies[0] / exact[0] < 0.61
print(f"first mode: {locked.hertz[0]:.3f} Hz, exact {first / (2 * np.pi):.3f} Hz")

figure, axes = plt.subplots(figsize=(8, 3), layout="constrained")
for k in range(3):
    shape = np.zeros(model.nq)
    shape[list(locked.coordinates)] = locked.shapes[:, k] * 1e-3 / np.abs(locked.shapes[:, k]).max()
    y = model.point_positions(shape)[:, 1]
    axes.plot(np.linspace(0, L, 21), y / np.abs(y).max(), label=f"mode {k + 1}, {locked.hertz[k]:.2f} Hz")
axes.set(xlabel="x [m]", ylabel="shape", title="clamped modes with 0.2 kg at the end")
axes.grid(alpha=0.3)
axes.legend(frameon=False)

# %%
# A fast move, and what it leaves
# -------------------------------
# The motor follows a quintic over 0.3 rad in 0.4 s, a PD controller with gains of a stiff drive. After the move the
# end keeps swinging.

reach, duration, last = 0.3, 0.4, 3.0
times = np.linspace(0.0, last, 1501)


def quintic(t):
    x = np.clip(np.asarray(t) / duration, 0.0, 1.0)
    return reach * (10 * x**3 - 15 * x**4 + 6 * x**5)


def follow(reference):
    """The motion with the motor on this reference."""
    q_ref = np.zeros((len(times), model.nq))
    q_ref[:, 0] = reference
    drive = elastogen.PD(elastogen.Waypoints(times, q_ref), 4000.0, 200.0)
    return model.simulate(rest, t=times, F=drive, method="generalized_alpha", step=2e-3)


def deflection(motion):
    """Distance of the beam's end from the straight line through the hub [m]."""
    tip = model.point_positions(motion.q)[:, -1]
    angle = motion.q[:, 0]
    return tip[:, 1] * np.cos(angle) - tip[:, 0] * np.sin(angle)


plain = follow(quintic(times))

# %%
# Input shaping: the same move twice, half as large, the second half a period later. Their vibrations cancel. ZV needs
# the frequency with the motor holding, which is the clamped one, and ends half a period later.

shaper = shaping.zv(locked.frequencies[0], 0.003)
shaped = follow(sum(gain * quintic(times - delay) for delay, gain in zip(shaper.times, shaper.gains, strict=True)))

# %%
# State feedback: the motor measures the vibration and works against it. LQR on the linearized arm gives the gains;
# the drive now yields where a stiff one would hold.

linear = model.linearize(rest, rest, rest)
weights = np.diag([40.0, 4.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0])
K = lqr(linear.A, linear.B, weights, 0.02 * np.eye(1))


def law(t, q, qd):
    q_ref = np.zeros(model.nq)
    q_ref[0] = quintic(t)
    F = np.zeros(model.nq)
    F[0] = -(K @ np.concatenate([q - q_ref, qd]))[0]
    return F


damped = model.simulate(rest, t=times, F=law)

# %%
# What is left once the slowest of the three commands has ended, and two seconds later. Shaping leaves less than a
# twentieth; feedback rings at first, because the motor must see the vibration, and then has nothing left.

motions = {"stiff drive": plain, "input shaping": shaped, "state feedback": damped}
ended = times > duration + shaper.duration + 0.1
late = times > 2.5
left = {name: np.abs(deflection(motion)[ended]).max() for name, motion in motions.items()}
end = {name: np.abs(deflection(motion)[late]).max() for name, motion in motions.items()}
print({name: f"{1e3 * left[name]:.2f} mm, later {1e3 * end[name]:.2f} mm" for name in motions})
assert left["input shaping"] < 0.05 * left["stiff drive"]
assert end["state feedback"] < 0.05 * end["stiff drive"]

# %%
# The frequency of what rings is the one that the model promised, and all three arrive.

ringing = deflection(plain)[ended]
crossings = times[ended][1:][np.diff(np.sign(ringing)) != 0]
assert np.isclose(np.pi / np.mean(np.diff(crossings)), locked.frequencies[0], rtol=0.02)
assert all(abs(motion.q[-1, 0] - reach) < 0.01 for motion in motions.values())

figure, (upper, lower) = plt.subplots(2, 1, sharex=True, figsize=(8, 5), layout="constrained")
for name, motion in motions.items():
    upper.plot(times, motion.q[:, 0], label=name)
    lower.plot(times, 1e3 * deflection(motion))
upper.plot(times, quintic(times), "k--", lw=0.8, label="reference")
upper.set(ylabel="hub [rad]")
upper.legend(frameon=False)
lower.set(xlabel="t [s]", ylabel="deflection of the end [mm]")
for axes in (upper, lower):
    axes.grid(alpha=0.3)
