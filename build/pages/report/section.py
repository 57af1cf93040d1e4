"""What a report is made of: sections of safe HTML, and tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

from elastogen.build.pages.recording import Recording


@dataclass(frozen=True)
class ReportSection:
    """A heading, text, and what follows it: HTML (safe already), then recorded motions with their captions."""

    title: str
    text: str = ""
    html: tuple[str, ...] = ()
    motions: tuple[tuple[str, Recording], ...] = field(default=())


def table(head: Sequence[str], rows: Iterable[Sequence[object]], numbers: Sequence[int] = ()) -> str:
    """A table; the columns in ``numbers`` are aligned to the right."""
    cells = "".join(f"<th>{escape(name)}</th>" for name in head)
    lines = [f"<tr>{cells}</tr>"]
    for row in rows:
        line = "".join(
            f'<td class="number">{escape(str(cell))}</td>' if k in numbers else f"<td>{escape(str(cell))}</td>"
            for k, cell in enumerate(row)
        )
        lines.append(f"<tr>{line}</tr>")
    return f'<div class="scroll"><table>{"".join(lines)}</table></div>'
