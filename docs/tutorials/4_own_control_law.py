"""
Your own control law in SymPy
=============================

A control law is written as on paper, in SymPy, with the model's own functions in it. It becomes one C function that
shares common subexpressions with the model. Here: a virtual spring and damper at the tip, the law of a robot that
people may push.
"""

import matplotlib.pyplot as plt
import numpy as np

import elastogen

# %%
# The law
# -------
# F = J^T (K (x_ref - x) - D dx/dt) + G: the weights are carried, and at the tip the arm feels like a mass on a spring
# K = 200 N/m and a damper D = 30 N s/m. ``s.q`` and ``s.qd`` are the symbols of the state, ``s.f`` has every function
# of the model.

robot = elastogen.load("two_link")
s = elastogen.symbols(robot)
x_ref = s.input("x_ref", 2)
K, D = 200, 30  # [N/m], [N s/m]

x = s.f.forward_kinematics(s.q)[-1][:2, 3]
J = s.f.jacobian(s.q)[:2, :]
F = J.T * (K * (x_ref - x) - D * J * s.qd) + s.f.gravity_vector(s.q)
robot = robot.with_function("spring_law", inputs={"x_ref": 2}, outputs={"F": F}, doc="Spring and damper at the tip [N m].")

# %%
# One function comes out, here its body in C. Sines and cosines, by far the dearest operations, are computed once; the
# three functions of the model that the law calls would compute them three times. ``elastogen.generate(robot,
# folder)`` writes it for the controller.

OUTPUTS = ["simulation", "spring_law", "forward_kinematics", "jacobian", "gravity_vector"]
model = elastogen.build_model(robot, outputs=OUTPUTS)
print(model.program("spring_law").text)
called = ("forward_kinematics", "jacobian", "gravity_vector")
assert 3 * model.functions["spring_law"].count["sincos"] == sum(model.functions[name].count["sincos"] for name in called)

# %%
# Before it moves: pushed by 8 N, it yields by 8 N / K
# ----------------------------------------------------
# Where the arm rests under a force on its tip, the law's forces and the push cancel. Newton's method finds that
# place; it must be exactly 8 / 200 = 0.04 m away, in the direction of the push, wherever the arm stands.

home = np.array([0.6, 0.9])
x_home = model.forward_kinematics(home)[-1][:2, 3]
push = np.array([3.0, -7.416198487095663])  # |push| = 8 N
assert np.isclose(np.linalg.norm(push), 8.0)


def left_over(q):
    law = model.evaluate("spring_law", q=q, qd=np.zeros(2), x_ref=x_home)
    return law - model.gravity_vector(q) + model.jacobian(q)[:2].T @ push


q = home.copy()
for _ in range(12):
    slope = np.column_stack([(left_over(q + e) - left_over(q - e)) / 2e-6 for e in 1e-6 * np.eye(2)])
    q -= np.linalg.solve(slope, left_over(q))
yielded = model.forward_kinematics(q)[-1][:2, 3] - x_home
assert np.allclose(yielded, push / K, rtol=0, atol=1e-10)

# %%
# Moving: the energy of arm and spring only falls
# -----------------------------------------------
# ``V = T + 1/2 K |x_ref - x|^2`` has the rate ``-D |dx/dt|^2``: this law cannot make the arm unstable. In the
# simulation the law is called at every evaluation; V must fall, and by what the damper took.

x_goal = x_home + np.array([-0.25, 0.2])


def law(t, q, qd):
    return model.evaluate("spring_law", q=q, qd=qd, x_ref=x_goal)


motion = model.simulate(home, t=np.linspace(0.0, 2.0, 401), F=law)
tips = model.forward_kinematics(motion.q)[:, -1, :2, 3]
speed = np.einsum("nij,nj->ni", model.jacobian(motion.q)[:, :2], motion.qd)
V = motion.kinetic + 0.5 * K * np.sum((x_goal - tips) ** 2, axis=1)
assert np.all(np.diff(V) <= 1e-9)
loss = D * np.sum(speed**2, axis=1)
taken = np.concatenate([[0.0], np.cumsum((loss[1:] + loss[:-1]) / 2 * np.diff(motion.t))])
assert np.allclose(V[0] - V, taken, atol=1e-3 * V[0])
assert np.linalg.norm(tips[-1] - x_goal) < 1e-3

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for number, k in enumerate((0, 20, 40, 70, 400)):
    frames = model.forward_kinematics(motion.q[k])[:, :2, 3]
    left.plot(frames[:, 0], frames[:, 1], "o-", color=plt.cm.viridis(number / 4), label=f"{motion.t[k]:.2f} s")
left.plot(*x_goal, "x", color="tab:red", ms=9)
left.set(xlabel="x [m]", ylabel="y [m]", aspect="equal", title="the tip is drawn to the cross", xlim=(-0.9, 1.1))
left.legend(frameon=False, loc="upper left")
right.plot(motion.t, V, label="T + spring")
right.plot(motion.t, V[0] - taken, "--", label="at first, less what the damper took")
right.set(xlabel="t [s]", ylabel="energy [J]", title="V only falls", xlim=(0, 1))
right.legend(frameon=False)
for axes in (left, right):
    axes.grid(alpha=0.3)

# %%
# In the real-time loop a law of q, qd and the usual references runs as it is:
# ``model.loop(controller="spring_law")``, see :doc:`/running/real-time-loop`.
