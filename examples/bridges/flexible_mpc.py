"""Model predictive control of an arm with a flexible link: each cycle solves a short optimal control problem from the state.

The hub turns by 0.3 rad and the beam comes to rest. Run it with casadi installed: python examples/bridges/flexible_mpc.py
"""

from __future__ import annotations

import casadi as ca
import numpy as np

import elastogen

ARM = {
    "elastogen": 1,
    "name": "flexible",
    "gravity": [0, 0, 0],
    "links": [
        {"name": "base"},
        {"name": "beam", "flexible": {"type": "modes", "length": 0.8, "mass_per_length": 0.5, "EI": 20.0,
         "modes": [{"direction": "y", "eigenfunction": 1}]}},
    ],
    "joints": [{"name": "hub", "type": "revolute", "child": "beam"}],
}  # fmt: skip
HORIZON, DT, CYCLES, MOST = 12, 0.02, 40, 3.0
GOAL = np.array([0.3, 0.0])


def controller(model: elastogen.Model):
    """The first force of the best motion over the horizon, from q and qd: a problem of IPOPT with exact Hessians."""
    step, n = model.to_casadi_step(dt=DT, method="generalized_alpha"), model.nv  # the beam is too fast for rk4
    x, u, start = ca.MX.sym("x", 2 * n, HORIZON + 1), ca.MX.sym("u", HORIZON), ca.MX.sym("start", 2 * n)
    cost, rows = 0, [x[:, 0] - start]
    for k in range(HORIZON):
        rows.append(x[:, k + 1] - ca.vertcat(*step(x[:n, k], x[n:, k], ca.vertcat(u[k], 0))))
        cost += 1e2 * ca.sumsqr(x[:n, k + 1] - GOAL) + ca.sumsqr(x[n:, k + 1]) + 1e-2 * u[k] ** 2
    cost += 1e3 * (ca.sumsqr(x[:n, HORIZON] - GOAL) + 0.1 * ca.sumsqr(x[n:, HORIZON]))
    unknowns = ca.vertcat(ca.vec(x), u)
    options = {"print_time": False, "ipopt": {"print_level": 0, "sb": "yes"}}
    solver = ca.nlpsol("mpc", "ipopt", {"x": unknowns, "p": start, "f": cost, "g": ca.vertcat(*rows)}, options)
    free = np.full(2 * n * (HORIZON + 1), np.inf)
    bounds = {"lbx": np.append(-free, np.full(HORIZON, -MOST)), "ubx": np.append(free, np.full(HORIZON, MOST))}
    guess = np.zeros(unknowns.numel())

    def force(q: np.ndarray, qd: np.ndarray) -> float:
        nonlocal guess
        found = solver(x0=guess, p=np.concatenate([q, qd]), lbg=0, ubg=0, **bounds)
        guess = np.array(found["x"]).ravel()
        return float(guess[2 * n * (HORIZON + 1)])

    return force


def main() -> None:
    """The controlled arm, simulated between the cycles."""
    model = elastogen.build_model(ARM)
    force, q, qd, bent = controller(model), np.zeros(2), np.zeros(2), 0.0
    for _ in range(CYCLES):
        motion = model.simulate(q, qd, t=[0, DT], F=[force(q, qd), 0.0])
        q, qd = motion.q[-1], motion.qd[-1]
        bent = max(bent, abs(float(q[1])))
    print(f"after {CYCLES * DT:g} s the hub is at {q[0]:.4f} rad, the beam's mode at {q[1]:.5f}, at most {bent:.5f} on the way")


if __name__ == "__main__":
    main()
