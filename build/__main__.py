"""``python -m build`` in the root of the project means the packaging tool: this module calls it."""

import runpy
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]

if __name__ == "__main__":
    sys.path = [entry for entry in sys.path if Path(entry or ".").resolve() != HERE]
    sys.modules.pop("build", None)
    try:
        runpy.run_module("build", run_name="__main__", alter_sys=True)
    except ImportError:
        sys.exit("The packaging tool is not installed. Fix: pip install build, or make dist.")
