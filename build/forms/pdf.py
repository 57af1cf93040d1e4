"""Documents of closed forms as PDF, by Typst (program or Python package) or TeX, whichever is installed."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path

from elastogen.generator.closed_form import latex, typst
from elastogen.generator.closed_form.document import Document
from elastogen.generator.robot.errors import BuildError

TEX = ("tectonic", "lualatex", "xelatex", "pdflatex")
LONGEST = 300  # seconds that a compiler of documents may take


def pdf(document: Document) -> bytes:
    """Return the document as PDF."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        if find_spec("typst") is not None:
            return _by_package(document, home)
        if shutil.which("typst"):
            return _by_program(["typst", "compile", "form.typ", "form.pdf"], home, "form.typ", typst.whole(document))
        for program in TEX:
            if shutil.which(program):
                command = [program, "form.tex"]
                if program != "tectonic":
                    command[1:1] = ["-interaction=nonstopmode", "-halt-on-error"]
                return _by_program(command, home, "form.tex", latex.whole(document))
    raise _nothing_writes()


def check_pdf() -> None:
    """Refuse to write a PDF without Typst and TeX, before its document is derived."""
    if find_spec("typst") is None and not any(map(shutil.which, ("typst", *TEX))):
        raise _nothing_writes()


def _nothing_writes() -> BuildError:
    return BuildError(
        f"a PDF needs Typst or TeX, and neither is here (looked for the package typst, then typst, {', '.join(TEX)}). "
        "Fix: pip install 'elastogen[pdf]', or --latex FILE and compile it elsewhere."
    )


def _by_package(document: Document, home: Path) -> bytes:
    import typst as compiler

    source = home / "form.typ"
    source.write_text(typst.whole(document), encoding="utf-8")
    try:
        result: bytes = compiler.compile(str(source))
    except RuntimeError as problem:
        raise BuildError(f"{document.title}: Typst refuses the document: {str(problem)[:300]}") from None
    return result


def _by_program(command: list[str], home: Path, name: str, text: str) -> bytes:
    (home / name).write_text(text, encoding="utf-8")
    try:
        done = subprocess.run(command, cwd=home, capture_output=True, text=True, check=False, timeout=LONGEST)
    except subprocess.TimeoutExpired:
        raise BuildError(f"{command[0]} took more than {LONGEST} s. Fix: name fewer quantities.") from None
    result = home / "form.pdf"
    if done.returncode != 0 or not result.is_file():
        raise BuildError(f"{command[0]} refuses the document: {(done.stdout + done.stderr)[-300:]}")
    return result.read_bytes()
