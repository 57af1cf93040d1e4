"""
From a URDF and a log to a better model
=======================================

A URDF has the masses of a drawing and no friction. The log of one motion of the real arm tells better numbers, how far
to trust them, and a second log tells whether they hold.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import elastogen

# %%
# The real arm
# ------------
# Here it is made up: the desk arm of the first tutorial, 15 % heavier and with friction. Nothing below this
# block knows these numbers.

urdf = Path("desk_arm.urdf").resolve()
drawn = elastogen.load(urdf)
names = [velocity.name for velocity in drawn.velocities if velocity.driven]
real = elastogen.build_model(drawn, outputs=["inverse_dynamics"])
viscous, coulomb = np.linspace(0.4, 0.1, len(names)), np.linspace(0.8, 0.2, len(names))  # [N m s/rad], [N m]
rng = np.random.default_rng(1)


def log(seed: int) -> dict[str, np.ndarray]:
    """20 s at 100 Hz: positions of encoders and forces of drives, both with noise."""
    motion = elastogen.excite(drawn, harmonics=4, seconds=10, rate=100, tries=1, iterations=30, seed=seed)
    t = np.arange(2 * len(motion.time)) * 0.01
    q, qd, qdd = (np.vstack([x, x]) for x in (motion.q, motion.qd, motion.qdd))
    F = 1.15 * real.inverse_dynamics(q, qd, qdd) + viscous * qd + coulomb * np.tanh(qd / 0.005)
    F += 0.02 * F.std(axis=0) * rng.standard_normal(F.shape)
    return {"time": t, "q": q + 1e-5 * rng.standard_normal(q.shape), "F": F}


first, second = log(0), log(1)

# %%
# Identify
# --------
# One call: the noise is filtered, the numbers are estimated such that every link can exist, and the second log tests
# them. All masses of the real arm are 15 % larger than drawn.

found = elastogen.identify(urdf, first, validate=second)
print("\n".join(line for line in found.table().splitlines() if "friction" in line or "%" in line))
for name, true in zip(names, viscous, strict=True):
    estimate = found[f"joints.{name}.friction.viscous"]
    print(f"{name}: viscous friction {estimate.value:.3f} +- {estimate.standard_error:.3f}, made up with {true:.3f} N m s/rad")
    assert abs(estimate.value - true) < 3 * estimate.standard_error
assert found.validated[0].moving < 0.05

# %%
# Before and after, on the log that was not seen
# ----------------------------------------------

(motion,) = found.motions(second)[0]
before = real.inverse_dynamics(motion.q, motion.qd, motion.qdd)
after = found.predict(motion)
figure, axes = plt.subplots(len(names), 1, sharex=True, figsize=(7, 1.6 * len(names)))
for k, axis in enumerate(np.atleast_1d(axes)):
    axis.plot(motion.time, motion.F[:, k], "k", linewidth=2, label="measured")
    axis.plot(motion.time, before[:, k], label="of the drawing")
    axis.plot(motion.time, after[:, k], "--", label="identified")
    axis.set_ylabel(f"{names[k]} [N m]")
axes[0].legend(loc="upper right")
axes[-1].set_xlabel("time [s]")
left_before, left_after = (np.sqrt(np.mean((motion.F - F) ** 2, axis=0)) for F in (before, after))
print("error of the drawing", left_before.round(3), "N m, identified", left_after.round(3), "N m")
assert np.all(left_after < 0.2 * left_before)  # every joint

# %%
# ``found.save("better.yaml")`` writes a robot file on top of the URDF, with the identified numbers, for every other
# command.
