"""The peers: Pinocchio's C++, and the C that CasADi generates from Pinocchio's algorithms."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from benchmarks.race.kernels import DERIVATIVES, FUNCTIONS, HERE, SIGNATURES, Kernel, adapter, load_kernel, shared_library
from benchmarks.race.robots import MissingPeerError, Subject, packages_prefix

CPP_FLAGS = ("-std=c++17", "-O3", "-march=native", "-DNDEBUG")
DEFINITIONS = (  # as Pinocchio's own CMake targets have them
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30", "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30", "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
)  # fmt: skip
SYSTEM_INCLUDES = ("/usr/include", "/usr/local/include", "/opt/homebrew/include")


def _compiler() -> str:
    found = shutil.which(os.environ.get("CXX", "c++")) or shutil.which("g++") or shutil.which("clang++")
    if found is None:
        raise MissingPeerError("no C++ compiler (apt-get install g++)")
    return found


def _includes() -> list[str]:
    prefix = packages_prefix() / "include"
    if not (prefix / "boost" / "variant.hpp").is_file() and not _system("boost/variant.hpp"):
        raise MissingPeerError("the headers of Boost are not installed (apt-get install libboost-dev)")
    eigen = next((p for p in (prefix / "eigen3", *_system("eigen3")) if (p / "Eigen" / "Core").is_file()), None)
    if eigen is None:
        raise MissingPeerError("the headers of Eigen are not installed (apt-get install libeigen3-dev)")
    return [f"-I{prefix}", "-isystem", str(eigen), "-w", *DEFINITIONS]


def _system(name: str) -> list[Path]:
    return [Path(folder, name) for folder in SYSTEM_INCLUDES if Path(folder, name).exists()]


def _sources(*names: str) -> dict[str, str]:
    return {name: (HERE / "peer_sources" / name).read_text(encoding="utf-8") for name in (*names, "pinocchio_model.hpp")}


def pinocchio_kernels(subject: Subject, work: Path, derivatives: bool = False) -> dict[str, Kernel]:
    """Pinocchio's algorithms on a robot, compiled for this processor: the functions, or their derivatives."""
    name = "pinocchio_derivatives" if derivatives else "pinocchio_kernels"
    sources = _sources(f"{name}.cpp", "pinocchio_context.hpp")
    library = shared_library(work, name, sources, [_compiler(), *CPP_FLAGS, *_includes()])
    path = work / f"{subject.name}.txt"
    path.write_text(subject.peer_text, encoding="utf-8")
    load = ctypes.CDLL(str(library)).load
    load.restype = ctypes.c_void_p
    context = load(str(path).encode())
    if not context:
        raise RuntimeError(f"Pinocchio's driver cannot read {path}")
    return {name: load_kernel("Pinocchio C++", library, name, context) for name in (DERIVATIVES if derivatives else FUNCTIONS)}


def casadi_sources(subject: Subject, work: Path, names: Sequence[str] = tuple(FUNCTIONS)) -> dict[str, str]:
    """The C that CasADi generates from Pinocchio's algorithms, and by differentiating them: function -> text."""
    spec = find_spec("casadi")
    if spec is None or spec.origin is None:
        raise MissingPeerError("CasADi is not installed (pip install casadi)")
    casadi = Path(spec.origin).parent
    if not (casadi / "include" / "casadi" / "casadi.hpp").is_file():
        raise MissingPeerError("the installed CasADi comes without its C++ headers")
    library = shared_library(
        work, "casadi-generator", _sources("casadi_from_pinocchio.cpp"),
        [_compiler(), "-std=c++17", "-O0", "-DNDEBUG", *_includes(), f"-I{casadi / 'include'}"],
        [f"-L{casadi}", "-lcasadi", f"-Wl,-rpath,{casadi}"],
    )  # fmt: skip
    folder = library.parent / subject.name
    folder.mkdir(exist_ok=True)
    path = folder / f"{'-'.join(names)}.txt"
    files = {name: folder / f"casadi_{name}.c" for name in names}
    if (
        not path.is_file()
        or path.read_text(encoding="utf-8") != subject.peer_text
        or not all(file.is_file() for file in files.values())
    ):
        (folder / "unfinished.txt").write_text(subject.peer_text, encoding="utf-8")
        wanted = " ".join(names).encode()
        generate = f"import ctypes, sys; sys.exit(ctypes.CDLL({str(library)!r}).generate(b'unfinished.txt', {wanted!r}))"
        subprocess.run([shutil.which("python3") or "python3", "-c", generate], cwd=folder, check=True)
        (folder / "unfinished.txt").rename(path)
    return {name: file.read_text(encoding="utf-8") for name, file in files.items()}


def casadi_kernel(
    name: str, source: str, size: int, flags: Sequence[str], work: Path, label: str, positions: int = 0
) -> Kernel:
    """One function of CasADi's C."""
    symbol = f"casadi_{name}"
    pointers = ", ".join(f"x{k}" for k in range(len(SIGNATURES[name][0])))
    call = f"const double *arg[] = {{ {pointers} }}; double *res[] = {{ y }}; {symbol}(arg, res, 0, 0, 0);"
    text = (
        f"#include <stddef.h>\nint {symbol}(const double **arg, double **res, long long int *iw, double *w, int mem);\n"
        f"{adapter(name, size, call, positions)}"
    )
    library = shared_library(work, f"casadi-{name}", {"adapter.c": text, f"{symbol}.c": source}, ["cc", *flags])
    return load_kernel(label, library, name)
