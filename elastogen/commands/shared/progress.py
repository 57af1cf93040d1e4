"""Progress on stderr: the current stage, and how long the stages took."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

from elastogen.generator.stages import listening

WORTH_TELLING = 1.0  # seconds: shorter stages are shown with --verbose only


@contextmanager
def progress(task: str, options: SimpleNamespace) -> Iterator[None]:
    """Show progress: on a terminal the current stage, at the end the times of long stages."""
    if options.quiet:
        yield
        return
    live, start, ending = sys.stderr.isatty(), time.perf_counter(), "stopped"
    took: dict[str, float] = {}

    def said(stage: str, detail: str, seconds: float | None) -> None:
        if seconds is not None:
            took[stage] = took.get(stage, 0.0) + seconds
        elif live:
            words = f"{task} ... {stage} {detail}".rstrip()
            print(f"\r\x1b[K{words[:100]} ", end="", file=sys.stderr, flush=True)

    print(f"{task} ...", end="", file=sys.stderr, flush=True)
    try:
        with listening(said):
            yield
        ending = "done"
    finally:
        shown = [f"{stage} {seconds:.1f} s" for stage, seconds in took.items() if options.verbose or seconds > WORTH_TELLING]
        stages = f" ({', '.join(shown)})" if shown else ""
        begin = f"\r\x1b[K{task} ..." if live else ""
        print(f"{begin} {ending} after {time.perf_counter() - start:.1f} s{stages}", file=sys.stderr, flush=True)
