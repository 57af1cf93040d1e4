"""An optimal control problem with exact Hessians by IPOPT: functions of a model, and the same in CasADi's SX compiled to C."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import elastogen
from benchmarks.bridges.textbook import sx_forward_dynamics
from benchmarks.race.robots import Subject

if TYPE_CHECKING:
    from benchmarks.bridges.report import Race

STEPS, DT, FASTER = 20, 0.05, 2.0
OPTIONS = {"print_time": False, "ipopt": {"print_level": 0, "sb": "yes", "tol": 1e-8}}
COMPILE = ["cc", "-O2", "-march=native", "-fPIC", "-shared"]


def races(subject: Subject, model: elastogen.Model, work: Path, quick: bool) -> list[Race]:
    """The peer is one compiled library of functions and derivatives; ours are called by CasADi. IPOPT is the same for both."""
    import casadi

    from benchmarks.bridges.report import Race

    folder = work / "optimal_control"
    folder.mkdir(exist_ok=True)
    own = problem(casadi, model.to_casadi("forward_dynamics"), model)
    peer = compiled(casadi, problem(casadi, sx_forward_dynamics(casadi, subject), model), folder)
    found, expected = (np.array(solve(solver)["x"]) for solver in (own, peer))
    error = float(np.abs(found - expected).max())
    iterations = own.stats()["iter_count"]
    if not error < 1e-5 or iterations != peer.stats()["iter_count"]:
        raise ArithmeticError(
            f"optimal control of Panda: {iterations} and {peer.stats()['iter_count']} iterations, {error:.1e}"
        )
    return [
        Race("CasADi, swing of 20 steps by IPOPT, beside SX compiled to C", "an iteration", iterations,
             lambda: solve(own), lambda: solve(peer), FASTER),
        Race("the same without IPOPT's own time: functions and derivatives", "a Hessian", 20,
             evaluations(casadi, own, folder, ""), evaluations(casadi, peer, folder, "sx"), 0.0),
    ]  # fmt: skip


def problem(casadi: Any, forward: Any, model: elastogen.Model) -> Any:
    """From rest to rest in a second, with the least forces, semi-implicit Euler steps."""
    n = model.nv
    x, u = casadi.MX.sym("x", 2 * n, STEPS + 1), casadi.MX.sym("u", n, STEPS)
    qd = x[n:, :-1] + DT * forward.map(STEPS)(x[:n, :-1], x[n:, :-1], u)
    q = x[:n, :-1] + DT * qd
    start, goal = np.zeros(2 * n), np.concatenate([np.linspace(0.8, -0.5, n), np.zeros(n)])
    g = casadi.vertcat(casadi.vec(x[:, 1:] - casadi.vertcat(q, qd)), x[:, 0] - start, x[:, -1] - goal)
    unknowns = casadi.vertcat(casadi.vec(x), casadi.vec(u))
    return casadi.nlpsol("swing", "ipopt", {"x": unknowns, "f": DT * casadi.sumsqr(u), "g": g}, OPTIONS)


def compiled(casadi: Any, solver: Any, folder: Path) -> Any:
    """The solver with its functions from C."""
    solver.generate_dependencies("sx_swing.c")
    text = Path("sx_swing.c").read_text(encoding="utf-8")
    Path("sx_swing.c").unlink()
    source, library = folder / "sx_swing.c", folder / "sx_swing.so"
    if not library.is_file() or not source.is_file() or source.read_text(encoding="utf-8") != text:
        source.write_text(text, encoding="utf-8")
        subprocess.run([*COMPILE, str(source), "-o", str(library), "-lm"], check=True)
    return casadi.nlpsol("swing", "ipopt", str(library), OPTIONS)


def solve(solver: Any) -> Any:
    """From a guess of zeros."""
    return solver(x0=0, lbg=0, ubg=0)


def evaluations(casadi: Any, solver: Any, folder: Path, kind: str) -> Any:
    """Calls of the Hessian of the Lagrangian, the dearest function of an iteration."""
    library = folder / "sx_swing.so"
    function = casadi.external("nlp_hess_l", str(library)) if kind else solver.get_function("nlp_hess_l")
    rng = np.random.default_rng(0)
    given = [0.1 * rng.uniform(-1, 1, function.size_in(k)) for k in range(function.n_in())]
    return lambda: [function(*given) for _ in range(20)]
