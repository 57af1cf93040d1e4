"""Coverage-guided fuzzing of the readers by atheris, where that is installed.

``python -m fuzz.coverage_guided FOLDER -runs=100000``:
the arguments are those of libFuzzer. FOLDER is filled with the fuzzer's own files first. Xacro and MJCF are left out: their
readers run in processes of their own, which atheris does not see.
"""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fuzz.corpus import originals

SUFFIXES = (".yaml", ".urdf", ".sdf")


def one_input(data: bytes) -> str:
    """Load one file; its first byte chooses the format. Errors of elastogen are answers, everything else is a finding."""
    from elastogen.generator.description.files import Files
    from elastogen.generator.description.load_options import LoadOptions
    from elastogen.generator.description.load_robot import load_content
    from elastogen.generator.robot.errors import ElastogenError

    if not data:
        return "nothing"
    suffix = SUFFIXES[data[0] % len(SUFFIXES)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            load_content(data[1:], f"input{suffix}", Path(f"/nowhere/input{suffix}"), LoadOptions(), Files())
        except ElastogenError:
            return "refused"
    return "loaded"


def seeds() -> list[bytes]:
    """The fuzzer's files, with the byte that chooses their format."""
    return [
        bytes([SUFFIXES.index(original.suffix)]) + original.text.encode()
        for original in originals()
        if original.suffix in SUFFIXES
    ]


def main() -> int:
    """Hand over to atheris."""
    if find_spec("atheris") is None:
        print("atheris is not installed (pip install atheris): nothing is done.", file=sys.stderr)
        return 0
    atheris: Any = import_module("atheris")
    for argument in sys.argv[1:]:
        if not argument.startswith("-"):
            Path(argument).mkdir(parents=True, exist_ok=True)
            for k, seed in enumerate(seeds()):
                (Path(argument) / f"seed-{k}").write_bytes(seed)
            break
    with atheris.instrument_imports(include=["elastogen"]):
        import_module("elastogen.generator.description.load_robot")
    atheris.Setup(sys.argv, lambda data: one_input(bytes(data)) and None)
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())
