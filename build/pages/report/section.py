"""What a report is made of: sections of safe HTML, tables, figures that carry their own data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.util import find_spec
from typing import Any

from elastogen.build.pages.recording import Recording
from elastogen.generator.robot.errors import BuildError

COLORS = ("#1971c2", "#d9480f", "#2f9e44", "#9c36b5", "#0c8599", "#f08c00", "#c2255c", "#495057")


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


def check_plotly() -> None:
    """Refuse to report without plotly, before anything is computed for the report."""
    if find_spec("plotly") is None:
        raise BuildError("a report needs plotly. Fix: pip install 'elastogen[report]'.")


def graph_objects() -> Any:
    """The figures of plotly, the extra ``report``."""
    check_plotly()
    import plotly.graph_objects

    return plotly.graph_objects


def plotly_script() -> str:
    """plotly itself, so that the page needs no network."""
    graph_objects()
    from plotly.offline import get_plotlyjs

    script: str = get_plotlyjs()
    return script


def figure(chart: Any, *, height: int = 360) -> str:
    """A figure as HTML that uses the script of the page."""
    from plotly.io import to_html

    chart.update_layout(
        height=height, margin={"l": 60, "r": 16, "t": 30, "b": 48}, template="plotly_white", colorway=COLORS,
        font={"family": "system-ui, sans-serif", "size": 13}, legend={"orientation": "h", "y": -0.2},
    )  # fmt: skip
    text = to_html(chart, include_plotlyjs=False, full_html=False, config={"responsive": True, "displaylogo": False})
    return f'<div class="figure">{text}</div>'
