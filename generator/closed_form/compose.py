"""Which quantities, frames and entries go into a document of closed forms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sympy

from elastogen.generator.closed_form.document import (
    Document,
    Equation,
    Part,
    TooLongError,
    bounded,
    frames_sentence,
    index_of_entry,
    symbol_rows,
    with_shared_parts,
)
from elastogen.generator.closed_form.quantities import DOCUMENT, MOTION, QUANTITIES, quantity, title_of
from elastogen.generator.robot.errors import OutputError

if TYPE_CHECKING:
    from elastogen.generator.closed_form.closed_form import ClosedForm, FrameChoice

_OF_ELASTIC = ("stiffness_matrix", "damping_matrix")


def compose(closed: ClosedForm, names: Sequence[str], frame: FrameChoice, digits: int, shared: bool = False) -> Document:
    """The document of these quantities and functions, by default of T, J, M, C, K, D, G and F."""
    robot, elastic = closed.robot, any(c.elastic for c in closed.robot.coordinates)
    left_out = ("inverse_dynamics",) if robot.loops else ()  # it solves linear equations; M, C and G are those of the tree
    wanted = names or tuple(name for name in DOCUMENT if name not in left_out and (elastic or name not in _OF_ELASTIC))
    parts = tuple(_part(closed, name, frame, elastic, shared) for name in wanted)
    symbols = symbol_rows(robot, closed.q, closed.notation)
    return Document(robot.name, symbols, frames_sentence(closed.frame_names), closed.notation, digits, parts)


def _part(closed: ClosedForm, name: str, frame: FrameChoice, elastic: bool, shared: bool) -> Part:
    if not isinstance(name, str):
        quantity(name)  # the error lists what it could be
    command = f"elastogen derive ROBOT {name} --entry {{entry}}"
    per_frame = name in QUANTITIES and QUANTITIES[name].per_frame
    command += " --link NAME" if per_frame else ""
    title = title_of(name)
    if name in QUANTITIES and QUANTITIES[name].takes_frame:
        title += " in the axes of each frame" if frame == "own" else " in frame 0"
    try:
        equations = closed.equations(name, frame=frame)
    except TooLongError as problem:
        return Part(title, (), (f"Left out: {problem}. One entry may be short: {command.format(entry='1,1')}",))
    if shared:
        return Part(title, tuple(with_shared_parts(equations)))
    return bounded(title, equations, command, (MOTION,) if name == "inverse_dynamics" and elastic else ())


def one_frame(name: str, equations: Sequence[Equation], frames: Sequence[str], link: str) -> list[Equation]:
    """The equation of one link, or of the tip, among those of all frames."""
    if len(equations) != len(frames):
        raise OutputError(f"{name}: got link={link!r}, but it is not one of every frame. Fix: leave it out.")
    if link not in frames:
        raise OutputError(f"{name}: got link={link!r}, expected one of {', '.join(frames)}.")
    return [equations[list(frames).index(link)]]


def one_entry(name: str, equation: Equation, entry: tuple[int, ...]) -> Equation:
    """One entry of a matrix, counted from 1."""
    value: Any = equation.value
    shape = value.shape[: 1 if value.cols == 1 else 2] if isinstance(value, sympy.MatrixBase) else ()
    index = index_of_entry(name, shape, entry)
    row, column = entry if len(entry) == 2 else (*entry, 1)
    return equation.of_entry(index, value[row - 1, column - 1])


def entries_of(value: Any) -> list[sympy.Expr]:
    """Return the entries of a matrix, row by row, or the one expression."""
    return list(value) if isinstance(value, sympy.MatrixBase) else [value]


def shape_of(values: Any) -> tuple[int, ...]:
    """Return the shape of a quantity's numpy array; a column is a vector."""
    if isinstance(values, tuple):
        return (len(values), *shape_of(values[0]))
    if not isinstance(values, sympy.MatrixBase):
        return ()
    rows, columns = values.shape
    return (rows,) if columns == 1 else (rows, columns)
