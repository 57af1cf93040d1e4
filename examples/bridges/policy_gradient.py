"""A small network learns to hold a two-link arm at a goal: its gradient goes through the dynamics, by ``to_torch``.

Run it with torch installed: python examples/bridges/policy_gradient.py
"""

from __future__ import annotations

import torch

import elastogen

ARMS, STEPS, DT, ROUNDS = 16, 40, 0.02, 30
GOAL = [0.5, -0.4]


def main() -> None:
    """Minimize the mean distance to the goal along motions of 32 arms; forces of gravity are given."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = elastogen.build_model("two_link", lanes=True)
    forward, gravity = model.to_torch("forward_dynamics"), model.to_torch("gravity_vector")
    policy = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Linear(16, 2)).double()
    optimizer, goal = torch.optim.Adam(policy.parameters(), lr=0.05), torch.tensor(GOAL, dtype=torch.float64)
    starts = goal + 0.5 * (2 * torch.rand(ARMS, 2, dtype=torch.float64) - 1)
    losses = []
    for _ in range(ROUNDS):
        q, qd = starts, torch.zeros_like(starts)
        loss = torch.zeros((), dtype=torch.float64)
        for _ in range(STEPS):
            F = gravity(q) + 20 * policy(torch.cat([q - goal, qd], dim=-1))
            qd = qd + DT * forward(q, qd, F)
            q = q + DT * qd
            loss = loss + (q - goal).square().sum(-1).mean() + 0.01 * qd.square().sum(-1).mean()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        optimizer.step()
        losses.append(float(loss.detach()) / STEPS)
    print(f"mean cost of a step: {losses[0]:.4f} before, {losses[-1]:.4f} after {ROUNDS} rounds")
    print(f"the arms end {float((q - goal).detach().norm(dim=-1).mean()):.4f} rad from the goal")


if __name__ == "__main__":
    main()
