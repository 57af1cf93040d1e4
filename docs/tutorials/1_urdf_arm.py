"""
A URDF arm: from its file to a microcontroller
==============================================

An arm comes as a URDF file. It ends as two C files in single precision that need no heap, no operating system and no
library but the sines and square roots of ``libm``. On the way every number that matters is checked by hand.
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import elastogen
from elastogen.command_line import main

# %%
# The file
# --------
# ``desk_arm.urdf`` lies beside this script, which runs in its folder: a turntable, a shoulder, an elbow, a wrist, and
# a gripper on a fixed joint. Only joints that move have coordinates, and the last link becomes the tip. The payload
# is made *live*: it stays an input of the C, everything else is folded into constants.

robot = elastogen.load("desk_arm.urdf", live=["payload"])
OUTPUTS = ["forward_kinematics", "gravity_vector", "potential_energy", "inverse_dynamics", "forward_dynamics"]
model = elastogen.build_model(robot, outputs=OUTPUTS)
print(model.coordinate_names, list(model.parameters))

# %%
# Check it by hand
# ----------------
# With all joints at zero the arm is stretched out along x. The tip is then 0.3 + 0.25 + 0.08 m from the axis, and the
# shoulder carries each weight at its distance. Positive angles lift the arm, so the drive has to push up.

tip = model.forward_kinematics(np.zeros(4))[-1][:3, 3]
assert np.allclose(tip, [0.3 + 0.25 + 0.08, 0.0, 0.05 + 0.1], rtol=0, atol=1e-15)

moment = 0.9 * 0.15 + 0.6 * (0.3 + 0.12) + 0.3 * (0.55 + 0.04) + 0.2 * (0.63 + 0.02)  # sum of mass times distance [kg m]
G = model.gravity_vector(np.zeros(4))
assert np.isclose(G[1], 9.81 * moment, rtol=1e-14)
assert abs(G[0]) < 1e-15  # the turntable carries nothing

model.parameters["payload_mass"] = 0.5  # a half-litre bottle in the gripper, at the tip
assert np.isclose(model.gravity_vector(np.zeros(4))[1] - G[1], 9.81 * 0.5 * 0.63, rtol=1e-13)

# %%
# Forces of a motion
# ------------------
# A quintic from rest to rest, one second long. The forces that it needs come from one batch call; forward dynamics
# gives the accelerations back, and the power that the drives deliver adds up to the potential energy that the arm has
# gained.

start, goal = np.array([-0.8, -0.3, -0.2, 0.0]), np.array([0.9, 1.1, -1.2, 0.6])
t = np.linspace(0.0, 1.0, 501)
s, ds, dds = 10 * t**3 - 15 * t**4 + 6 * t**5, 30 * t**2 - 60 * t**3 + 30 * t**4, 60 * t - 180 * t**2 + 120 * t**3
q, qd, qdd = (np.outer(x, goal - start) for x in (s, ds, dds))
q += start
F = model.inverse_dynamics(q, qd, qdd)
assert np.allclose(model.forward_dynamics(q, qd, F), qdd, rtol=0, atol=1e-11)

power = np.einsum("ij,ij->i", F, qd)
work = np.sum((power[1:] + power[:-1]) / 2) * (t[1] - t[0])
assert np.isclose(work, model.potential_energy(goal) - model.potential_energy(start), rtol=1e-5)  # by the trapezoidal rule
effort = np.array([20.0, 20.0, 10.0, 5.0])  # limits of the URDF [N m]
assert np.all(np.abs(F).max(axis=0) < effort)

# %%
# The C
# -----
# ``generate`` writes ``desk_arm.h`` and ``desk_arm.c``. The program below is what a controller does each millisecond;
# it prints the forces for the states of the motion, so that they can be compared.

work_folder = tempfile.TemporaryDirectory()
folder = Path(work_folder.name)
files = elastogen.generate(robot, folder, precision="float", outputs=["inverse_dynamics"])
(folder / "main.c").write_text(r"""
#include <stdio.h>
#include "desk_arm.h"

int main(void)
{
    desk_arm_params_t p = desk_arm_params_nominal;
    p.payload_mass = 0.5f;
    float x[12], F[4];
    while (fread(x, sizeof x[0], 12, stdin) == 12) {
        desk_arm_inverse_dynamics(&p, x, x + 4, x + 8, F);
        fwrite(F, sizeof F[0], 4, stdout);
    }
    return 0;
}
""")
strict = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wdouble-promotion", "-Werror"]
subprocess.run(["cc", *strict, "main.c", files.source.name, "-lm", "-o", "main"], cwd=folder, check=True)
states = np.hstack([q, qd, qdd]).astype(np.float32)
done = subprocess.run([str(folder / "main")], input=states.tobytes(), capture_output=True, check=True)
F_float = np.frombuffer(done.stdout, dtype=np.float32).reshape(-1, 4)
error = np.abs(F_float - F)
assert error.max() < 1e-6 * np.abs(F).max()  # single precision: a few units of 6e-8
assert 11 < np.abs(F).max() < 13

# %%
# The left picture is the motion, the right one what the drives give, and below what single precision loses: about 1e-6
# N m of forces up to 12 N m.

figure, ((left, right), (off, below)) = plt.subplots(2, 2, figsize=(10, 5.6), height_ratios=[3, 1.2], layout="constrained")
for k in range(0, len(t), 50):
    frames = model.forward_kinematics(q[k])[:, :3, 3]
    out = np.hypot(frames[:, 0], frames[:, 1])
    left.plot(out, frames[:, 2], "o-", color=plt.cm.viridis(k / len(t)), ms=3)
left.set(xlabel="distance from the axis [m]", ylabel="z [m]", title="the arm, early dark, late bright", aspect="equal")
right.plot(t, F, label=model.coordinate_names)
right.set(ylabel="F [N m]", title="forces of the drives")
right.legend(frameon=False)
below.semilogy(t, np.maximum(error.max(axis=1), 1e-9))
below.set(xlabel="t [s]", ylabel="float - double [N m]")
off.axis("off")
for axes in (left, right, below):
    axes.grid(alpha=0.3)

# %%
# What it costs on the microcontroller
# ------------------------------------
# ``elastogen size`` compiles the same files for the processor, here a Cortex-M4F if its compiler is installed, and
# prints bytes, stack and instructions. ``elastogen export --format zephyr``, ``arduino`` or ``platformio`` puts a
# project around the files.

target = ["--target", "cortex-m4f"] if shutil.which("arm-none-eabi-gcc") else []
code = main(["size", "desk_arm.urdf", "--live", "payload", "--precision", "float", "--outputs", "inverse_dynamics", *target])
assert code == 0
work_folder.cleanup()
