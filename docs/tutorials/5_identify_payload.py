"""
Identify a payload with the regressor
=====================================

What is the arm carrying? The forces of a robot are linear in the inertial parameters of its links: F = Y(q, qd, qdd)
p. So the forces that are measured beyond those of the empty arm tell the payload's mass and where its centre is, by
least squares.
"""

import matplotlib.pyplot as plt
import numpy as np

import elastogen

# %%
# The arm, empty and loaded
# -------------------------
# The controller knows the empty PUMA 560. The arm that is measured carries a brick of 1.8 kg; its forces come from
# the inverse dynamics with the brick as live parameters. The estimate below uses the regressor instead, which knows
# nothing of a payload.

model = elastogen.build_model("puma560", outputs=["inverse_dynamics", "regressor", "inertial_parameters"])
mass, com, inertia = 1.8, np.array([0.03, -0.02, 0.11]), np.array([0.006, 0.005, 0.004])  # [kg], [m], about its centre [kg m^2]
brick = {"payload_mass": mass}
brick |= {f"payload_com_{axis}": value for axis, value in zip("xyz", com, strict=True)}
brick |= {f"payload_inertia_{axis}{axis}": value for axis, value in zip("xyz", inertia, strict=True)}

# %%
# A motion that shows everything
# ------------------------------
# Sines of different frequencies in all joints for ten seconds, sampled at 100 Hz. Each measured force has noise of
# its own: 0.3 N m in the big joints, a tenth of that in the wrist.

rng = np.random.default_rng(3)
t = np.arange(0.0, 10.0, 0.01)
middle = np.array([0.0, 1.2, -1.4, 0.3, 0.4, 0.0])
amplitude = np.array([0.8, 0.5, 0.6, 0.9, 0.8, 1.0])
w = 2 * np.pi * np.array([0.31, 0.43, 0.53, 0.71, 0.83, 0.97])  # [rad/s]
q = middle + amplitude * np.sin(np.outer(t, w))
qd = amplitude * w * np.cos(np.outer(t, w))
qdd = -amplitude * w**2 * np.sin(np.outer(t, w))
noise = np.array([0.3, 0.3, 0.3, 0.03, 0.03, 0.03])  # [N m]
measured = model.inverse_dynamics(q, qd, qdd, parameters=brick) + noise * rng.standard_normal(q.shape)
empty = model.inverse_dynamics(q, qd, qdd)

# %%
# Least squares
# -------------
# A payload that is held firmly adds to the last link's ten parameters: mass, first moments, moments of inertia about
# the frame. Their columns stand together in the regressor, which multiplies all links' parameters to the same forces
# as the inverse dynamics:

Y = model.regressor(q, qd, qdd)
assert np.allclose(Y @ model.inertial_parameters(), empty, rtol=0, atol=1e-10)
columns = Y[:, :, -10:] / noise[:, None]  # rows weighted by their noise
A, b = columns.reshape(-1, 10), ((measured - empty) / noise).ravel()
estimate, _, rank, _ = np.linalg.lstsq(A, b, rcond=None)
sigma = np.sqrt(np.diag(np.linalg.inv(A.T @ A)))
assert rank == 10  # this motion shows all ten

m, c = estimate[0], estimate[1:4] / estimate[0]
print(f"mass {m:.3f} +- {sigma[0]:.3f} kg, centre ({', '.join(f'{1e3 * x:.1f}' for x in c)}) mm")

# %%
# The truth lies within four standard deviations for all ten numbers, and mass and centre are known well. The weighted
# remainder is as large as the noise that was put in: nothing but noise is left.

Ixx, Iyy, Izz = inertia + mass * (com @ com - com**2)  # Steiner
truth = np.array(
    [mass, *(mass * com), Ixx, -mass * com[0] * com[1], -mass * com[0] * com[2], Iyy, -mass * com[1] * com[2], Izz]
)
assert np.all(np.abs(estimate - truth) < 4 * sigma)
assert abs(m - mass) < 0.02 * mass
assert np.linalg.norm(c - com) < 3e-3
remainder = (b - A @ estimate).reshape(q.shape)
assert np.isclose(remainder.std(), 1.0, rtol=0.05)

# %%
# Left: the forces that the empty arm does not explain, in a wrist joint, and what the estimated payload says. Right:
# the ten estimates over the truth, in standard deviations.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
left.plot(t, (measured - empty)[:, 4], ".", ms=2, color="0.6", label="measured, less the empty arm")
left.plot(t, (A @ estimate).reshape(q.shape)[:, 4] * noise[4], label="estimated payload")
left.set(xlabel="t [s]", ylabel="wrist [N m]", title="forces of the payload in the fifth joint", xlim=(0, 5))
left.legend(frameon=False)
names = ["m", "mx", "my", "mz", "Lxx", "Lxy", "Lxz", "Lyy", "Lyz", "Lzz"]
right.axhspan(-1, 1, color="tab:green", alpha=0.15)
right.errorbar(range(10), (estimate - truth) / sigma, yerr=1, fmt="o", capsize=3)
right.set_xticks(range(10), names)
right.set(ylabel="(estimate - truth) / sigma", ylim=(-4, 4), title="ten parameters")
for axes in (left, right):
    axes.grid(alpha=0.3)
