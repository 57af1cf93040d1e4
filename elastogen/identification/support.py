"""Which laws of friction the data support: the information criterion of Schwarz (BIC), without the runs that validate."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from elastogen.identification.choices import Choice
from elastogen.identification.fit import Fit, fit_free
from elastogen.identification.problem import Problem

EXACT = 1e-7  # of the forces: what is left is rounding, and nothing is missing


def supported(choice: Choice, posed: Callable[[Choice], Problem], loss: str) -> tuple[Choice, Problem, Fit, list[str]]:
    """The choice with those of its ``maybe`` that lower the criterion, one after the other; its problem, its fit, and notes."""
    problem = posed(choice)
    fit, notes = fit_free(problem, loss), []
    usual = np.sqrt(np.mean(np.concatenate([motion.measured for motion in problem.motions]) ** 2, axis=0))
    while choice.maybe and np.any(fit.noise > EXACT * usual):
        tries = []
        for kind in choice.maybe:
            wider = choice.also(kind)
            other = posed(wider)
            tries.append((kind, wider, other, fit_free(other, loss)))
        kind, wider, other, found = min(tries, key=lambda each: gain(each[2], each[3], fit))
        if gain(other, found, fit) >= 0:
            break
        change = ", ".join(f"{100 * (1 - x):.0f}" for x in found.noise / fit.noise)
        notes.append(f"friction: {kind} is estimated, too: what is left of each joint falls by {change} %")
        choice, problem, fit = wider, other, found
    return choice, problem, fit, notes


def gain(problem: Problem, wider: Fit, fit: Fit) -> float:
    """How much the criterion grows with the wider law: below zero, data support it. Correlated residuals count once."""
    counts = np.sum([motion.counts.sum(axis=0) for motion in problem.motions], axis=0) / np.maximum(
        fit.inflation, wider.inflation
    )
    likelihood = float(np.sum(counts * 2 * np.log(wider.noise / fit.noise)))
    return likelihood + (wider.rank - fit.rank) * float(np.log(counts.sum()))
