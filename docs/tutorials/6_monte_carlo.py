"""
Monte Carlo over stiffness, with Dask
=====================================

A beam's stiffness is never known exactly. How much vibration is left after a shaped move if the real EI is not the
one that the shaper was designed for? Many simulations answer, on every core or on a cluster, and theory agrees.
"""

import matplotlib.pyplot as plt
import numpy as np
from dask.distributed import Client

import elastogen
from elastogen.runtime.motion import shaping

# %%
# The arm and the move
# --------------------
# ``flexible_one_link`` is a beam on a hub with EI as a live parameter, so one compiled model serves all cases. A
# torque pulse drives it; convolved with a shaper for the nominal frequency of the arm with a free hub, the pulse
# leaves no vibration.

NOMINAL = 0.1688  # EI [N m^2]
recipe = elastogen.Recipe("flexible_one_link", {"outputs": ["simulation", "mass_matrix", "stiffness_matrix"]})
model = recipe.model()


def frequency(EI):
    """Lowest vibration of the arm with a free hub [rad/s]."""
    found = model.modes(np.zeros(model.nq), joints="free", parameters={"EI": EI}).frequencies
    return float(found[found > 0.1][0])


w0 = frequency(NOMINAL)
assert np.isclose(frequency(4 * NOMINAL), 2 * w0, rtol=1e-6)  # w goes with the root of EI
PULSE, TORQUE = 0.4, 0.02  # [s], [N m]


def torque(shaper):
    """A soft pulse at each of the shaper's impulses, as a table of forces."""
    t = np.linspace(0.0, END, 200)
    rows = np.zeros((len(t), model.nq))
    for start, gain in zip(shaper.times, shaper.gains, strict=True):
        rows[:, 0] += gain * TORQUE * np.sin(np.pi * np.clip((t - start) / PULSE, 0.0, 1.0)) ** 2
    return elastogen.Table(t, rows, "linear")


# %%
# Sixty arms
# ----------
# EI is drawn with a standard deviation of 12 %. What comes back from each simulation is one number: how far the end
# of the beam swings after the forces have ended. ``reduce`` runs where the simulation ran, so that only numbers
# travel. A case is the keyword arguments of ``Model.simulate``.

rng = np.random.default_rng(11)
stiffness = NOMINAL * np.clip(rng.normal(1.0, 0.12, 60), 0.5, 1.5)
shapers = {"no shaper": shaping.Shaper(np.zeros(1), np.ones(1)), "ZV": shaping.zv(w0), "ZVD": shaping.zvd(w0)}
END = shapers["ZVD"].duration + PULSE  # when the last of the forces has ended [s]


def swing(motion):
    """Half of the swing of the beam's end after the forces, from crest to trough [m]: each shape is 1 there."""
    after = motion.q[motion.t >= END, 1:].sum(axis=1)
    return float(np.ptp(after) / 2)


times = np.concatenate([[0.0], np.linspace(END, END + 2 * 2 * np.pi / w0, 60)])  # two periods after the end
common = {"q0": np.zeros(model.nq), "t": times, "method": "generalized_alpha", "step": 4e-3, "energy": False}
cases = {
    name: [{**common, "F": torque(shaper), "parameters": {"EI": EI}} for EI in stiffness] for name, shaper in shapers.items()
}

# %%
# With a client the same call runs on a cluster: ``Client("tcp://scheduler:8786")``. Here it is this computer. Workers
# build the model from its recipe, or load it from their cache.

with Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None) as client:
    amplitudes = {
        name: np.array(elastogen.run_study(recipe, some, reduce=swing, client=client)) for name, some in cases.items()
    }

# %%
# Theory
# ------
# A linear mode of frequency w keeps ``|sum g_k exp(i w t_k)|`` of what the pulse alone leaves: ``Shaper.residual``.
# The simulations say the same; the small difference is the damping of the beam, half a percent, which that formula
# leaves out, and the higher modes.

frequencies = np.array([frequency(EI) for EI in stiffness])
for name in ("ZV", "ZVD"):
    expected = np.array([shapers[name].residual(w) for w in frequencies])
    got = amplitudes[name] / amplitudes["no shaper"]
    assert np.abs(got - expected).max() < 0.06, name
    print(f"{name}: 95 % of the arms keep less than {100 * np.quantile(got, 0.95):.1f} % of the vibration")
assert np.quantile(amplitudes["ZVD"], 0.95) < 0.5 * np.quantile(amplitudes["ZV"], 0.95)

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
line = np.linspace(0.8, 1.25, 200)
for name, color in (("ZV", "tab:orange"), ("ZVD", "tab:blue")):
    part = 100 * amplitudes[name] / amplitudes["no shaper"]
    left.plot(frequencies / w0, part, ".", color=color, alpha=0.6, label=f"{name}, simulated")
    left.plot(line, [100 * shapers[name].residual(w0 * x) for x in line], color=color, lw=1, label=f"{name}, theory")
    right.hist(part, bins=25, color=color, alpha=0.6, label=name)
left.set(xlabel="frequency of the arm / nominal", ylabel="vibration left [%]", xlim=(0.8, 1.25), ylim=(0, 40), title="60 arms")
right.set(xlabel="vibration left [%]", ylabel="arms", title="EI with 12 % standard deviation")
for axes in (left, right):
    axes.legend(frameon=False)
    axes.grid(alpha=0.3)
