"""What becomes of a derived function that is compared with the description: taken, derived again, doubted or refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from elastogen.generator.derivation_errors import DerivationError
from elastogen.generator.functions.function import Function
from elastogen.generator.reference.expected.registry import Asked
from elastogen.generator.reference.self_check import TOLERANCE, SelfCheck
from elastogen.generator.robot.location import Location


def confirmed(
    function: Function, name: str, parts: Sequence[tuple[Asked, int]], check: SelfCheck, again: Callable[[], Function]
) -> Function:
    """A function that agrees with the description; where it does not, the one that ``again`` derives in its own frames.

    Where that one differs as well, but the two agree with each other, the comparison is in doubt, which takes differences, null
    spaces or solutions for some functions. A warning says so; of primary functions it is an error.
    """
    error, robot = check.error(function.program, parts), check.robot
    if error <= TOLERANCE:
        return function
    other = again()
    left = check.error(other.program, parts)
    agrees = left <= TOLERANCE
    if (
        not agrees
        and max(check.error(function.program, parts, primary=True), check.between(function.program, other.program, parts))
        > TOLERANCE
    ):
        raise DerivationError(
            f"{robot.name}: {name} differs from the description by {left:.1e} (relative), expected at most {TOLERANCE:.0e}. "
            "Fix: this is a fault of elastogen; please report it with the robot's file"
        )
    said = "it was derived again in the description's own frames"
    Location(robot.source or "python", name).warn(
        f"a difference of {error:.1e} (relative) from the description",
        f"at most {TOLERANCE:.0e}",
        f"nothing: {said} and agrees now; it takes more operations"
        if agrees
        else f"{said} and both derivations agree, so that it is kept, but it could not be confirmed: "
        "compare it with another source, and please report it with the robot's file",
    )
    return other if agrees else function
