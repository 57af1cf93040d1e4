"""The inline sincos of the emitted C: error against mpmath, special values, same bits however compiled."""

from __future__ import annotations

import dataclasses
import platform
import random
import shutil
import subprocess
from pathlib import Path

import jinja2
import mpmath  # type: ignore[import-untyped,unused-ignore]
import numpy as np
import numpy.typing as npt
import pytest
from c_compilers import WARNINGS

TEMPLATES = Path(__file__).resolve().parents[2] / "templates"

Reals = npt.NDArray[np.floating]

# Reads reals from stdin until the end, writes sine, cosine of each; BLOCK is the constant n of the calls.
MAIN = """
#include <stdio.h>
int main(void)
{
    arm6_real_t x[BLOCK];
    arm6_real_t s[BLOCK];
    arm6_real_t c[BLOCK];
    while (fread(x, sizeof x[0], BLOCK, stdin) == BLOCK) {
        SINCOS(x, s, c, BLOCK);
        if (fwrite(s, sizeof s, 1, stdout) != 1 || fwrite(c, sizeof c, 1, stdout) != 1) {
            return 1;
        }
    }
    return 0;
}
"""

# A caller as the emitted functions are: joint angles in by pointer, sines and cosines in local arrays.
CALLER = """
void arm6_use(const arm6_real_t *s, const arm6_real_t *c, arm6_real_t *tau);
void arm6_torques(const arm6_real_t *q, arm6_real_t *tau);
void arm6_torques(const arm6_real_t *q, arm6_real_t *tau)
{
    arm6_real_t s[BLOCK];
    arm6_real_t c[BLOCK];
    SINCOS(q, s, c, BLOCK);
    arm6_use(s, c, tau);
}
"""


@dataclasses.dataclass(frozen=True)
class Precision:
    """One of the two emitted types, with the range in which the template computes all angles at once."""

    real: str
    dtype: type[np.floating]
    digits: int  # bits of the significand
    lowest_exponent: int  # frexp exponent of the smallest normal number
    quadrants: int  # |x| < quadrants * pi/2 holds in this range
    range_end: float

    def ulp(self, value: mpmath.mpf) -> mpmath.mpf:
        """Spacing of the numbers of this precision at value."""
        exponent = max(int(mpmath.frexp(value)[1]), self.lowest_exponent)
        return mpmath.ldexp(mpmath.mpf(1), exponent - self.digits)


DOUBLE = Precision("double", np.float64, 53, -1021, 2**18, 409600.0)
FLOAT = Precision("float", np.float32, 24, -125, 2**13, 12800.0)

precisions = pytest.mark.parametrize("precision", [DOUBLE, FLOAT], ids=lambda p: str(p.real))


def source(precision: Precision, rest: str) -> str:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    names = ["sincos.c.j2", *(["_odd.j2"] if precision.real == "double" else [])]
    parts = [environment.get_template(f"sincos/{name}").render(prefix="arm6", real=precision.real) for name in names]
    odd = "(BLOCK % 2 == 1) && (BLOCK > 1)" if precision.real == "double" else "0"  # as emitted functions call it
    choice = f"#if {odd}\n#define SINCOS arm6_sincos_odd\n#else\n#define SINCOS arm6_sincos\n#endif\n"
    text = "".join([*parts, choice])
    return f"typedef {precision.real} arm6_real_t;\n{text}{rest}"


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def compiled(folder: Path, precision: Precision, flags: str, block: int = 8, compiler: str = "gcc") -> Path:
    """The stand-alone program of MAIN, built with the gate's warnings."""
    name = f"{precision.real}_{block}_" + "".join(ch if ch.isalnum() else "_" for ch in flags)
    c_file = folder / f"{name}.c"
    c_file.write_text(source(precision, MAIN))
    program = folder / name
    result = run([compiler, *WARNINGS, *flags.split(), f"-DBLOCK={block}", str(c_file), "-o", str(program)])
    assert result.returncode == 0, result.stderr
    return program


def evaluate(program: Path, precision: Precision, points: list[float], block: int = 8) -> tuple[Reals, Reals]:
    """Sines and cosines of the points, by one run of the program."""
    padded = np.zeros(-(-len(points) // block) * block, dtype=precision.dtype)
    padded[: len(points)] = points
    result = subprocess.run([str(program)], input=padded.tobytes(), capture_output=True, timeout=120, check=False)
    assert result.returncode == 0, result.stderr.decode()
    values = np.frombuffer(result.stdout, dtype=precision.dtype).reshape(-1, 2, block)
    return values[:, 0].ravel()[: len(points)], values[:, 1].ravel()[: len(points)]


def neighbours(precision: Precision, point: float) -> list[float]:
    """The three numbers of the precision around a real point, with both signs."""
    x = precision.dtype(point)
    three = [x, np.nextafter(x, precision.dtype(0)), np.nextafter(x, precision.dtype(np.inf))]
    return [float(sign * y) for y in three for sign in (1, -1)]


def hardest(precision: Precision, how_many: int) -> list[float]:
    """Of all numbers in the range, those nearest to a multiple of pi/2: the reduction loses most there."""
    with mpmath.workprec(400):
        half_pi = int(mpmath.floor(mpmath.ldexp(mpmath.pi / 2, 300)))
    distances = []
    for k in range(1, precision.quadrants):
        scaled = k * half_pi
        unit = scaled.bit_length() - precision.digits
        mantissa = (scaled + (1 << (unit - 1))) >> unit
        distances.append((abs(scaled - (mantissa << unit)), mantissa * 2.0 ** (unit - 300)))
    return [x for _, x in sorted(distances)[:how_many]]


def points_in_range(precision: Precision) -> list[float]:
    rng = random.Random(20190)
    end = precision.range_end
    points = [rng.uniform(-end, end) for _ in range(3000)]
    points += [rng.uniform(-7.0, 7.0) for _ in range(3000)]
    points += [rng.choice((-1, 1)) * 2.0 ** rng.uniform(-60, 0) for _ in range(500)]
    for x in hardest(precision, 200):
        points += neighbours(precision, x)
    for k in [*range(1, 100), *(rng.randrange(1, 2 * precision.quadrants) for _ in range(400))]:
        points += neighbours(precision, min(k * float(np.pi) / 4, end))  # both ends of every octant
    smallest = float(np.finfo(precision.dtype).smallest_subnormal)
    tiny = float(np.finfo(precision.dtype).tiny)
    for x in (smallest, 5 * smallest, tiny, 3.3 * tiny, 2.0**-27, 2.0**-12, end):
        points += neighbours(precision, x)
    rounded = [float(precision.dtype(x)) for x in points]
    return [x for x in rounded if abs(x) <= end]


def errors_in_ulp(precision: Precision, points: list[float], sines: Reals, cosines: Reals) -> list[float]:
    """Largest of both errors at each point."""
    errors = []
    with mpmath.workprec(250):
        for x, s, c in zip(points, sines, cosines, strict=True):
            cosine, sine = mpmath.cos_sin(mpmath.mpf(x))
            error_s = abs(mpmath.mpf(float(s)) - sine) / precision.ulp(sine)
            error_c = abs(mpmath.mpf(float(c)) - cosine) / precision.ulp(cosine)
            errors.append(float(max(error_s, error_c)))
    return errors


@precisions
@pytest.mark.parametrize("flags", ["-O2 -ffp-contract=off", "-O3 -march=native -ffp-contract=fast"])
def test_within_one_ulp(precision: Precision, flags: str, tmp_path: Path) -> None:
    points = points_in_range(precision)
    sines, cosines = evaluate(compiled(tmp_path, precision, flags), precision, points)
    errors = errors_in_ulp(precision, points, sines, cosines)
    worst = max(range(len(points)), key=lambda i: errors[i])
    assert errors[worst] <= 1.0, f"{errors[worst]} ulp at {points[worst].hex()}"
    assert np.all(np.abs(sines) <= 1)
    assert np.all(np.abs(cosines) <= 1)


@precisions
def test_hardest_points_are_hard(precision: Precision) -> None:
    """The adversarial points cancel all digits of x and more, so that the test of ulps means something."""
    with mpmath.workprec(250):
        nearest = min(abs(mpmath.cos_sin(mpmath.mpf(x))[i]) for x in hardest(precision, 5) for i in (0, 1))
    assert nearest < 2.0 ** -(precision.digits + 1)


@precisions
def test_special_values(precision: Precision, tmp_path: Path) -> None:
    program = compiled(tmp_path, precision, "-O2")
    sines, cosines = evaluate(program, precision, [np.nan, np.inf, -np.inf, 1.0, 1e30, np.inf, 2.0, np.nan])
    assert np.isnan(sines).tolist() == np.isnan(cosines).tolist() == [True, True, True, False, False, True, False, True]

    smallest = float(np.finfo(precision.dtype).smallest_subnormal)
    tiny = [0.0, -0.0, smallest, -smallest, 1e-38, -1e-38]
    sines, cosines = evaluate(program, precision, tiny)
    expected = np.array(tiny, dtype=precision.dtype)
    assert sines.tobytes() == expected.tobytes()  # bits, hence the sign of zero too
    assert np.all(cosines == 1)


def points_beyond_the_range(precision: Precision) -> list[float]:
    """Of every size up to the largest number, and of every size the one nearest to a multiple of pi/2 of a thousand."""
    rng = random.Random(7)
    low, high = float(np.log2(precision.range_end)), 1024.0 if precision.real == "double" else 128.0
    points = [rng.choice((-1, 1)) * 2.0 ** (low + (high - low) * rng.random() ** 2) for _ in range(700)]
    with mpmath.workprec(1300):
        for exponent in range(20, int(high) - 1, 1 if precision.real == "float" else 7):
            some = [rng.uniform(1, 2) * 2.0**exponent for _ in range(20)]
            near = [float(precision.dtype(mpmath.nint(mpmath.mpf(x) / (mpmath.pi / 2)) * mpmath.pi / 2)) for x in some]
            points.append(min(near, key=lambda x: abs(mpmath.sin(2 * mpmath.mpf(x)))))
    if precision.real == "double":
        points += [1e15, 2.0**48, 1e22, 1e300, float(np.finfo(np.float64).max), 6381956970095103 * 2.0**797]  # the hardest
    else:
        points += [1.6471e6, 1e10, 16367173 * 2.0**72, float(np.finfo(np.float32).max)]  # the third: the hardest
    points += [float(np.nextafter(precision.dtype(precision.range_end), precision.dtype(np.inf)))]
    return [float(precision.dtype(sign * x)) for x in points for sign in (1, -1)]


@precisions
@pytest.mark.parametrize("flags", ["-O2 -ffp-contract=off", "-O3 -march=native -ffp-contract=fast"])
def test_within_one_ulp_beyond_the_range(precision: Precision, flags: str, tmp_path: Path) -> None:
    """No NaN and no lost digits, up to the largest number; between angles in range as between others."""
    far = points_beyond_the_range(precision)
    points = [x for pair in zip(far, reversed(far), [0.5] * len(far), strict=True) for x in pair]
    sines, cosines = evaluate(compiled(tmp_path, precision, flags), precision, points)
    with mpmath.workprec(1300):
        exact = {x: mpmath.cos_sin(mpmath.mpf(x)) for x in {*far, 0.5}}
    for x, s, c in zip(points, sines, cosines, strict=True):
        for found, value in ((c, exact[x][0]), (s, exact[x][1])):
            with mpmath.workprec(250):
                assert abs(mpmath.mpf(float(found)) - value) <= precision.ulp(value), x.hex()


@precisions
def test_same_bits_at_every_optimization_and_size(precision: Precision, tmp_path: Path) -> None:
    points = [*points_in_range(precision), 0.0, -0.0, np.nan, np.inf, -np.inf, *points_beyond_the_range(precision)[:1000]]
    reference: bytes | None = None
    vectors = [("-O3 -march=native -ffp-contract=off", block) for block in (1, 3, 5, 6, 7, 32)]
    for flags, block in (("-O0", 1), ("-O2", 6), ("-O2 -ftree-vectorize", 32), ("-O3", 7), *vectors):
        program = compiled(tmp_path, precision, flags, block)
        both = np.stack(evaluate(program, precision, points, block))
        both[np.isnan(both)] = np.nan  # IEEE leaves the payload of a NaN open
        if reference is None:
            reference = both.tobytes()
        assert both.tobytes() == reference, f"{flags}, n = {block}"


@precisions
def test_no_undefined_behaviour(precision: Precision, tmp_path: Path) -> None:
    flags = "-O1 -g -march=native -fsanitize=undefined,float-cast-overflow,address -fno-sanitize-recover=all"
    program = compiled(tmp_path, precision, flags, block=7)
    largest = float(np.finfo(precision.dtype).max)
    positive = [np.nan, np.inf, largest, 2.0**31, 2.0**32, 2.0**63, 2.0**64, 0.0, 1e-40, 1.0, 1e5, 1e20]
    points = [sign * x for x in positive for sign in (1, -1)]
    evaluate(program, precision, points, block=7)  # fails with the sanitizer's report


@precisions
@pytest.mark.parametrize("compiler", ["gcc", "clang", "arm-none-eabi-gcc"])
@pytest.mark.parametrize("flags", ["-O0", "-O2", "-O3", "-O2 -ffreestanding"])
def test_gate(precision: Precision, compiler: str, flags: str, tmp_path: Path) -> None:
    """No warning, and no call: neither libm nor memcpy, also where the compiler may assume no C library."""
    if shutil.which(compiler) is None:
        assert compiler != "gcc", "gcc is needed"
        pytest.skip(f"{compiler} is not installed")
    c_file, o_file = tmp_path / "caller.c", tmp_path / "caller.o"
    c_file.write_text(source(precision, CALLER))
    options = [*flags.split(), "-DBLOCK=7", "-c", str(c_file), "-o", str(o_file)]
    nm = "nm"
    if compiler.startswith("arm"):
        options += [
            "-mcpu=cortex-m7",
            "-mthumb",
            "-mfpu=fpv5-d16",
            "-mfloat-abi=hard",
        ]  # has double in hardware
        nm = "arm-none-eabi-nm"
    result = run([compiler, *WARNINGS, *options])
    assert result.returncode == 0, result.stderr
    symbols = run([nm, "-u", str(o_file)])
    assert symbols.stdout.split() == ["U", "arm6_use"]


@precisions
@pytest.mark.parametrize("block", [6, 7, 32])
@pytest.mark.parametrize("flags", ["-O2 -ftree-vectorize", "-O3", "-O3 -march=native"])
def test_gcc_vectorizes(precision: Precision, block: int, flags: str, tmp_path: Path) -> None:
    if platform.machine() not in ("x86_64", "AMD64", "aarch64"):
        pytest.skip(f"no baseline vector unit is assumed on {platform.machine()}")
    c_file = tmp_path / "caller.c"
    c_file.write_text(source(precision, CALLER))
    options = [*flags.split(), f"-DBLOCK={block}", "-fopt-info-vec-optimized"]
    result = run(["gcc", *WARNINGS, *options, "-c", str(c_file), "-o", str(tmp_path / "caller.o")])
    assert result.returncode == 0, result.stderr
    assert "loop vectorized" in result.stderr


@precisions
def test_fast_math_is_refused(precision: Precision, tmp_path: Path) -> None:
    c_file = tmp_path / "caller.c"
    c_file.write_text(source(precision, CALLER))
    options = ["-ffast-math", "-DBLOCK=6", "-c", str(c_file), "-o", str(tmp_path / "caller.o")]
    result = run(["gcc", *WARNINGS, *options])
    assert result.returncode != 0
    assert "arm6_sincos needs IEEE arithmetic" in result.stderr
