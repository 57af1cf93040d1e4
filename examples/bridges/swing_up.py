"""A two-link arm whose shoulder has no drive swings up: IPOPT with exact Hessians, through ``to_casadi_step``.

Run it with casadi installed: python examples/bridges/swing_up.py
"""

from __future__ import annotations

import casadi as ca
import numpy as np

import elastogen

STEPS, DT = 60, 0.05
HANGING, UPRIGHT = [-np.pi / 2, 0.0], [np.pi / 2, 0.0]


def main() -> None:
    """Find the motion, and check it by a simulation with the same steps."""
    model = elastogen.build_model("two_link")
    step, problem = model.to_casadi_step(dt=DT), ca.Opti()
    q, qd, elbow = problem.variable(2, STEPS + 1), problem.variable(2, STEPS + 1), problem.variable(STEPS)
    problem.minimize(DT * ca.sumsqr(elbow))
    for k in range(STEPS):
        q_next, qd_next = step(q[:, k], qd[:, k], ca.vertcat(0, elbow[k]))
        problem.subject_to(q[:, k + 1] == q_next)
        problem.subject_to(qd[:, k + 1] == qd_next)
    for given, at, value in ((q, 0, HANGING), (qd, 0, [0, 0]), (q, STEPS, UPRIGHT), (qd, STEPS, [0, 0])):
        problem.subject_to(given[:, at] == ca.DM(value))
    problem.set_initial(q, np.linspace(HANGING, UPRIGHT, STEPS + 1).T)
    problem.solver("ipopt", {"print_time": False}, {"print_level": 0, "hessian_approximation": "exact", "max_iter": 500})
    solution = problem.solve()
    forces = np.column_stack([np.zeros(STEPS), solution.value(elbow)])
    motion = model.simulate(
        HANGING, [0, 0], t=[0, STEPS * DT], F=elastogen.Table(DT * np.arange(STEPS), forces), method="rk4", step=DT
    )
    print(f"{solution.stats()['iter_count']} iterations, largest force {np.abs(forces).max():.1f} N m")
    print(f"the simulation ends at {motion.q[-1].round(4)}, upright is {np.round(UPRIGHT, 4)}")


if __name__ == "__main__":
    main()
