"""Evidence in a report: statistics of the real-time loop, and the certificate of ``verify``."""

from __future__ import annotations

import time
import warnings
from html import escape
from typing import TYPE_CHECKING

import numpy as np

import elastogen
from elastogen.build.pages.report.chart import Chart
from elastogen.build.pages.report.section import ReportSection, table
from elastogen.commands.motion.run_report import PERCENTILES

if TYPE_CHECKING:
    from elastogen.runtime import Model
    from elastogen.runtime.loop.loop import Loop
    from elastogen.verification.findings import Certificate

RATE = 1000.0  # [Hz]


def real_time(model: Model, start: np.ndarray, seconds: float) -> ReportSection:
    """Run the simulated robot in its loop for some seconds and return the statistics, or the reason why there is no loop."""
    title = "Real time"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of rights that this machine does not give
            from elastogen.runtime.loop.plants import Simulated

            loop = model.loop(plant=Simulated(start), rate=RATE)
            loop.start(seconds)
            while loop.running:
                time.sleep(0.02)
            loop.stop()
    except elastogen.ElastogenError as error:
        return ReportSection(title, f"Not measured: {error}")
    return ReportSection(title, _words(loop), (_percentiles(loop), _histogram(loop)))


def _words(loop: Loop) -> str:
    of = loop.statistics()
    return (
        f"{of.cycles} cycles of the loop in C at {loop.rate:g} Hz: {loop.controller.name}, simulated robot, telemetry; default "
        f"scheduling on the machine that made this page. {of.overruns} overruns, {of.skipped} periods skipped; "
        f"{loop.status.meaning}. Lateness is from the deadline to the beginning of a cycle."
    )


def _percentiles(loop: Loop) -> str:
    late, execution = loop.statistics().lateness, loop.statistics().execution
    rows = [(f"{p:g} %", f"{late.percentile(p) * 1e6:.1f}", f"{execution.percentile(p) * 1e6:.2f}") for p in PERCENTILES]
    rows.append(("worst", f"{late.most * 1e6:.1f}", f"{execution.most * 1e6:.2f}"))
    return table(("of all cycles", "lateness below [us]", "execution below [us]"), rows, numbers=(1, 2))


def _histogram(loop: Loop) -> str:
    chart = Chart("time [us]", "cycles", log_x=True, log_y=True)
    statistics = loop.statistics()
    for name in ("lateness", "execution"):
        edges, counts = getattr(statistics, name).histogram()
        used = np.flatnonzero(counts)
        middle = 0.5e6 * (edges[used] + edges[used + 1])
        chart.add(np.maximum(middle, 1e-3), counts[used], name, marks=True)
    return chart.svg()


def certificate(found: Certificate | None, robot: str) -> ReportSection:
    """Return the findings of ``verify``, or how to obtain them on this machine."""
    title = "Certificate"
    if found is None:
        return ReportSection(title, f"Not verified here: elastogen report {robot} --verify runs all checks and shows them.")
    verdict = "passed" if found.passed else "FAILED"
    rows = ((f.verdict, f.check, f.subject, f.measured, f.allowed) for f in found.findings)
    sums = "; ".join(f"{name} {value}" for name, value in found.hashes.items())
    html = (
        table(("verdict", "check", "of", "measured", "allowed"), rows),
        f'<p class="soft">Sums of what took part: {escape(sums)}</p>',
    )
    return ReportSection(title, f"elastogen verify: {verdict}. {found.summary}", html)
