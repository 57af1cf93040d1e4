"""What follows from the comparison with the description: a function is kept, derived again, doubted or refused."""

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
    """Return the function if it agrees with the description, else the one that ``again`` derives in the user's frames.

    If that one differs too, but the two agree with each other, the comparison itself may be inaccurate (it takes differences,
    null spaces or solutions): a warning, and for primary functions an error.
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
