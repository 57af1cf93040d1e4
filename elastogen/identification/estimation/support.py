"""Which laws of friction the data support, drive by drive: the information criterion of Schwarz (BIC) of the fitted runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from elastogen.identification.choices import Choice
from elastogen.identification.equations.problem import Problem
from elastogen.identification.estimation.fit import Fit, fit_consistent, fit_free
from elastogen.identification.measurements.read_table import Array

EXACT = 1e-7  # of the forces: what is left is rounding, and nothing is missing
STRONG = 6.0  # by which the criterion must fall: strong evidence (Kass, Raftery 1995)
POSITIVE = 2.0  # the same: evidence worth a mention
CLEAR = 3.0  # standard errors from zero


def supported(
    choice: Choice, posed: Callable[[Choice], Problem], loss: str, names: Sequence[str]
) -> tuple[Choice, Problem, Fit, list[str]]:
    """The choice with those of its ``maybe`` that lower the criterion, one after the other; its problem, its fit, and notes.

    Each kind is tried for all drives at once, and kept for those whose own criterion falls; what others make superfluous goes.
    Widths are tried where no Coulomb friction is described. Springs are not tried here: see :func:`supported_springs`.
    """
    problem = posed(choice)
    first = fit = fit_free(problem, loss)
    usual = np.sqrt(np.mean(np.concatenate([motion.measured for motion in problem.motions]) ** 2, axis=0))
    while np.any(fit.noise > EXACT * usual):
        tries: dict[str, Array] = {}
        for kind in (each for each in choice.maybe if each != "spring"):
            drives = [k for k in range(problem.joints) if kind != "width" or problem.law["coulomb"][k] == 0]
            other = posed(choice.also(kind, drives))
            tries[kind] = gains(problem, other, fit, fit_free(other, loss))
            tries[kind][[k for k in range(problem.joints) if k not in drives]] = 0.0
        if not tries:
            break
        kind = min(tries, key=lambda each: float(np.minimum(tries[each] + STRONG, 0.0).sum()))
        joints = [int(k) for k in np.flatnonzero(tries[kind] < -STRONG)]
        if not joints:
            break
        choice = choice.also(kind, joints)
        problem = posed(choice)
        fit = fit_free(problem, loss)
    for kind in list(choice.joints)[:-1]:
        fewer = choice.without(kind, choice.joints[kind])
        other = posed(fewer)
        needless = gains(other, problem, fit_free(other, loss), fit) >= -STRONG
        joints = [k for k in choice.joints[kind] if needless[k]]
        if joints:
            choice = choice.without(kind, joints)
            problem = posed(choice)
            fit = fit_free(problem, loss)
    falls = 100 * (1 - fit.noise / first.noise)
    notes = []
    for k, name in enumerate(names):
        kinds = [kind for kind, joints in choice.joints.items() if k in joints]
        if kinds:
            notes.append(f"friction of {name}: {' and '.join(kinds)} estimated, too: {falls[k]:.0f} % less is left")
    return choice, problem, fit, notes


def supported_springs(
    choice: Choice,
    problem: Problem,
    free: Fit,
    fit: Fit,
    posed: Callable[[Choice], Problem],
    prior: float,
    loss: str,
    names: Sequence[str],
) -> tuple[Choice, Problem, Fit, Fit, list[str]]:
    """The same with springs beside the drives that need one.

    Their own criterion falls, the estimate is clear, and the criterion of all of them falls strongly.

    They are judged with bodies that can exist: free ones may have masses that no body has, and stand for springs with them. A
    spring that its own drive does not need makes up for errors of others, and is wrong on other motions.
    """
    usual = np.sqrt(np.mean(np.concatenate([motion.measured for motion in problem.motions]) ** 2, axis=0))
    if "spring" not in choice.maybe or not problem.bodies or np.all(fit.noise <= EXACT * usual):
        return choice, problem, free, fit, []
    joints = list(range(problem.joints))
    while joints:
        wider = choice.also("spring", joints)
        other = posed(wider)
        other_free = fit_free(other, loss)
        other_fit = fit_consistent(other, other_free, prior, loss)
        falls = gains(problem, other, fit, other_fit)
        clear = {unknown.joint for k, unknown in enumerate(other.unknowns, 10 * len(other.bodies))
                 if unknown.name == "spring" and other_fit.z[k] ** 2 > CLEAR**2 * other_fit.covariance[k, k]}  # fmt: skip
        needed = [k for k in joints if falls[k] < -POSITIVE and k in clear]
        if needed == joints:
            break
        joints = needed
    if not joints or falls[joints].sum() >= -STRONG:
        return choice, problem, free, fit, []
    less = 100 * (1 - float(np.exp(np.mean(np.log(other_fit.noise / fit.noise)))))
    where = ", ".join(names[k] for k in joints)
    return wider, other, other_free, other_fit, [f"springs beside {where} estimated, too: {less:.0f} % less is left"]


def gains(problem: Problem, other: Problem, fit: Fit, wider: Fit) -> Array:
    """How much the criterion of each drive grows with the wider law: below zero, data support it.

    Residuals that remember each other count once.
    """
    samples = np.sum([motion.counts.sum(axis=0) for motion in problem.motions], axis=0)
    counts = samples / np.maximum(fit.inflation, wider.inflation)
    added = np.zeros(problem.joints)
    for sign, each in ((1, other), (-1, problem)):
        np.add.at(added, [unknown.joint for unknown in each.unknowns], sign)
    return np.asarray(counts * 2 * np.log(wider.noise / fit.noise) + added * np.log(counts.sum()))
