"""``elastogen.identify``: from measured motions to a robot with error bars."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from elastogen.generator.description.load_robot import load
from elastogen.generator.robot.robot import Robot
from elastogen.identification.choices import choose
from elastogen.identification.equations.bodies import check_supported, estimated_bodies
from elastogen.identification.errors import IdentificationError, require_scipy
from elastogen.identification.measurements.columns import COMMANDED, driven_names
from elastogen.identification.output_error.names import SENSORS, is_path

if TYPE_CHECKING:
    from elastogen.identification.equations.problem import Problem
    from elastogen.identification.output_error.refinement import Refinement
    from elastogen.identification.results.result import Identification

METHODS = ("least_squares", "instrumental")
IV_ROUNDS = 2  # of simulating the identified robot and estimating with its columns
Data = object  # a file, a data frame, a mapping of arrays, or several of them


def identify(
    robot: Robot | str | Path | Mapping[str, object],
    data: Data,
    *,
    parameters: str | Iterable[str] = "default",
    validate: Data = None,
    columns: Mapping[str, object] | None = None,
    gains: Mapping[str, float] | str | None = None,
    degrees: bool = False,
    cutoff: float | None = None,
    consistent: bool = True,
    prior: float | None = None,
    loss: str = "linear",
    method: str = "least_squares",
    tell: Callable[[str], None] = lambda text: None,
) -> Identification | Refinement:
    """Estimate numbers of a robot from measured motions.

    - ``data``: one run or several, each a file (.csv, .csv.gz, .parquet, .npz), a data frame or a mapping of arrays, with
      ``time`` [s], ``q.<joint>``, ``F.<joint>`` or ``current.<joint>``, perhaps ``qd.<joint>``; ``columns`` maps other names.
    - ``parameters``: what to estimate, by name (:data:`elastogen.identification.choices.KINDS`) or as a set: "default"
      (inertia, viscous, coulomb, offset, rotor, and where the data support them width, stribeck and load of single joints,
      and springs),
      "friction", "all". Or
      numbers of the robot file by their paths, as ``links.*.flexible.EI``, ``joints.elbow.elasticity.stiffness`` or
      ``parameters.c1``, with short names for elastic ones
      (:data:`elastogen.identification.output_error.names.PATHS`) and unknowns of sensors (``SENSORS`` beside it): these are
      estimated by output error, elastic coordinates being simulated along the motion of the joints.
    - ``validate``: runs that are not used for the estimate and tell how good it is.
    - ``gains``: force per ampere of each drive, where currents were measured, or "commanded": as the forces and currents that
      the robot's own controller wanted say (columns ``F_command``, ``current_command``); so they are where none are given and
      these columns are there. ``degrees``: angles are in degrees.
    - ``cutoff`` [Hz] of the zero-phase low pass that both sides of the equations go through; by default chosen from the data,
      0: none.
    - ``consistent``: every body can exist, with the description as prior, whose relative uncertainty is ``prior`` (0.5).
      Without it dependent parameters stay as described, and where no robot has the estimates, no file is written.
    - ``method``: "least_squares", or "instrumental": columns of the simulated robot as instrumental variables (IDIM-IV), for
      positions so noisy that least squares is biased.
    - ``loss``: "linear", or "huber", "soft_l1", "cauchy", which weigh outliers down.

    What is fixed to a link (a hand) stays as described. Samples at which a joint rests are left out: friction holds it there
    with any force up to its own, which no function of q, qd, qdd knows.
    """
    require_scipy("identify")
    from elastogen.identification.equations.problem import body_model, pose
    from elastogen.identification.estimation.fit import fit_consistent, fit_free
    from elastogen.identification.estimation.instruments import simulated_model, with_instruments
    from elastogen.identification.estimation.smoothing import smoothed
    from elastogen.identification.estimation.support import supported, supported_springs
    from elastogen.identification.measurements.signals import chosen_cutoff, prepare
    from elastogen.identification.results.estimates import estimates, identified_robot, possible_robot
    from elastogen.identification.results.quality import friction_test, whiteness
    from elastogen.identification.results.result import Identification, Reading, chosen_gains, unshown

    _check_numbers(cutoff, prior)
    if method not in METHODS:
        raise IdentificationError("method", repr(method), " or ".join(map(repr, METHODS)), "choose one of them")
    if method == "instrumental" and not consistent:
        raise IdentificationError(
            "method", "instrumental with consistent=False", "consistent bodies", "what is simulated must exist"
        )
    asked = [parameters] if isinstance(parameters, str) else list(parameters)
    if by_output_error(asked):
        if isinstance(gains, str):
            raise IdentificationError("gains", repr(gains), "numbers by joint", "for example {'elbow': 11.13}")
        from elastogen.identification.output_error.refine import LOOSE, refine

        with one_thread():
            return refine(
                robot, data, asked, validate=validate, columns=columns, gains=gains, degrees=degrees, cutoff=cutoff,
                prior=LOOSE if prior is None else prior, loss=loss, tell=tell,
            )  # fmt: skip
    prior = 0.5 if prior is None else prior
    given = robot if isinstance(robot, Robot) else load(robot)
    choice = choose(parameters)
    check_supported(given)
    if isinstance(gains, str) and gains != COMMANDED:
        raise IdentificationError("gains", repr(gains), f"numbers by joint, or {COMMANDED!r}", "for example {'elbow': 11.13}")
    numbers, declared = chosen_gains(data, given, columns, gains)
    reading = Reading(given, columns, numbers, degrees)
    pieces, notes = reading.pieces(data, moving=choice.kinds != ("payload",))
    notes += declared
    if not all(piece.forced for piece in pieces):
        raise IdentificationError(
            "data", "no forces", "F.<joint> or current.<joint>", "map them: columns={'F': [...]}, or name elastic numbers"
        )
    cut = chosen_cutoff(pieces) if cutoff is None else float(cutoff)
    tell(f"{len(pieces)} pieces of motion, low pass at {cut:.3g} Hz")
    with one_thread():
        model, bodies = body_model(given), estimated_bodies(given, choice)
        _check_amount(pose(given, model, [prepare(piece, cut) for piece in pieces], bodies, choice))
        plain = choice.linear()
        smooth, motions = smoothed(pieces, cut, lambda motions: pose(given, model, motions, bodies, plain))
        if smooth < cut:
            notes.append(f"positions and velocities are smoothed at {smooth:.3g} Hz: accelerations are noise above")
        choice, problem, free, added = supported(
            choice, lambda wider: pose(given, model, motions, bodies, wider), loss, driven_names(given)
        )
        notes += added
        tell(f"{free.rank} of {len(free.z)} parameters are independent, condition {free.condition:.3g}")
        fit = fit_consistent(problem, free, prior, loss) if consistent and problem.bodies else free
        if consistent:
            choice, problem, free, fit, added = supported_springs(
                choice,
                problem,
                free,
                fit,
                lambda wider: pose(given, model, motions, bodies, wider),
                prior,
                loss,
                driven_names(given),
            )
            notes += added
        for _ in range(IV_ROUNDS if method == "instrumental" else 0):
            simulated = simulated_model(identified_robot(problem, fit, given))
            problem = with_instruments(problem, simulated, model, fit.z)
            free = fit_free(problem, loss)
            fit = fit_consistent(problem, free, prior, loss) if consistent and problem.bodies else free
            tell("instruments of the simulated robot")
        residuals = problem.differences(fit.z)
        found, impossible = possible_robot(problem, fit, given)
        result = Identification(
            robot=found,
            described=given,
            source=robot if isinstance(robot, Robot) else str(robot),
            parameters=choice.kinds,
            estimates=tuple(estimates(problem, fit, given)),
            fit=fit,
            free=free,
            cutoff=cut,
            smooth=smooth,
            whiteness=whiteness(residuals),
            friction_test=friction_test(motions, residuals, free.inflation),
            notes=tuple(notes),
            reading=reading,
            unshown=unshown(problem, free, driven_names(given)),
            problem=problem,
            impossible=impossible,
        )
        result = result.with_held_part(data)
        train = result.validate(data)
        return result.with_runs(train, () if validate is None else result.validate(validate))


def by_output_error(names: Sequence[str]) -> bool:
    """Whether numbers of a robot file or of sensors are asked for, which are estimated by output error."""
    special = [name for name in names if isinstance(name, str) and (is_path(name) or name in SENSORS)]
    others = [name for name in names if name not in special]
    if special and others:
        raise IdentificationError(
            "parameters", f"{others[0]!r} beside {special[0]!r}", "paths of numbers alone, or kinds alone",
            "name friction and inertia by their paths, too: joints.*.friction.viscous, links.*.mass",
        )  # fmt: skip
    return bool(special)


def _check_numbers(cutoff: float | None, prior: float | None) -> None:
    if cutoff is not None and not (np.isfinite(cutoff) and cutoff >= 0):
        raise IdentificationError(
            "cutoff", cutoff, "a frequency [Hz], or 0 for none", "leave it out: it is chosen from the data"
        )
    if prior is not None and not (np.isfinite(prior) and prior > 0):
        raise IdentificationError(
            "prior", prior, "the relative uncertainty of the description, above zero", "0.5 is the default"
        )


def _check_amount(problem: Problem) -> None:
    rows = sum(int(motion.counts.sum()) for motion in problem.motions)
    wanted = 3 * len(problem.described)
    if rows < wanted:
        raise IdentificationError(
            "data", f"{rows} independent samples of moving joints", f"{wanted} or more for {len(problem.described)} parameters",
            "record longer motions, or estimate fewer parameters",
        )  # fmt: skip


@contextmanager
def one_thread() -> Iterator[None]:
    """Small matrices: threads of BLAS cost more than they give. Where threadpoolctl is missing they stay."""
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        yield
        return
    with threadpool_limits(1):
        yield
