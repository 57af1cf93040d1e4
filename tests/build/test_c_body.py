"""The printed C says what the program says: the same operations, the same values, readable and within C's limits."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from build_samples import (
    LIVE,
    MOSTLY_SUMS,
    Recipe,
    call,
    compiled,
    model_of,
    operations_used,
    random_arguments,
    random_program,
)  # fmt: skip

from elastogen.build.c.body import FunctionBody
from elastogen.build.c.dialect import Dialect
from elastogen.build.c.expression import literal
from elastogen.build.c.function import print_body
from elastogen.build.c.lines import WIDTH
from elastogen.build.c.names import LocalNames, comment_text, string_literals
from elastogen.build.c.split import LONGEST_PART, choose_cuts
from elastogen.generator.functions.function import Function
from elastogen.generator.program.graph import Graph, Op
from elastogen.generator.program.operations import ELEMENTARY
from elastogen.generator.program.program import OperationCount, Program
from elastogen.generator.robot.errors import BuildError
from elastogen.generator.robot.reserved import KEYWORDS, LIBRARY_FUNCTIONS, MACROS
from elastogen.runtime.interface.argument import Argument

TOKEN = re.compile(r"[0-9.]+(?:e[-+]?[0-9]+)?F?|[A-Za-z_]\w*|->|&&|[-+*/()\[\],={}<>!&?:]")
RECIPES = {
    "small": Recipe(30),
    "medium": Recipe(150),
    "split": Recipe(2000, outputs=((40,), (6, 6)), choices=MOSTLY_SUMS),
    "no_functions": Recipe(1200, transcendental=False),
    "pivots": Recipe(200, pivots=4),
    "one_in_one_out": Recipe(12, inputs=(1,), outputs=((),), live=()),
}


OTHERS = [known.name for op, known in ELEMENTARY.items() if op not in (Op.SIN, Op.COS, Op.SQRT, Op.TANH)]


def all_text(body: FunctionBody) -> str:
    return "\n".join((*(line for part in body.parts for line in part.lines), *body.lines))


def printed_operations(text: str) -> OperationCount:
    """Count the operators of printed C. The sign of a literal is part of the literal."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"for \(.*?\) \{.*?\}", "", text)
    text = re.sub(r"\bconst \w+_real_t\b|\(void\)", "", text)
    others = Counter()
    count = Counter(sincos=len(re.findall(r"= -?(?:co)?sine\d*\[", text)))
    for statement in re.split(r"[;{}]", text):
        tokens = TOKEN.findall(statement)
        for place, token in enumerate(tokens):
            before = tokens[place - 1] if place else "="
            after = tokens[place + 1] if place + 1 < len(tokens) else ""
            if token == "-" and before in ("=", "(", ",", "+", "-", "*", "/", "!", "&&", "?", ":"):
                count["neg"] += not after[0].isdigit()
            elif token in ("+", "-"):
                count["add"] += 1
            elif token in ("*", "/"):
                count["mul" if token == "*" else "div"] += 1
            elif after == "(" and re.fullmatch(r"(sin|cos|sqrt|tanh)f?", token):
                name = token.rstrip("f")
                count["sincos" if name in ("sin", "cos") else name] += 1
            elif token == "?":
                others["select"] += 1
            elif after == "(" and (token in OTHERS or token.removesuffix("f") in OTHERS):
                others[token if token in OTHERS else token.removesuffix("f")] += 1
    named = [*OTHERS, "select"]
    return OperationCount(**count, others=tuple((name, others[name]) for name in named if others[name]))


@pytest.mark.parametrize("sincos", ["fast", "libm"])
@pytest.mark.parametrize("real", ["double", "float"])
@pytest.mark.parametrize("recipe", RECIPES)
def test_printed_operations_equal_the_count(recipe: str, real: str, sincos: str) -> None:
    for seed in range(4 if recipe in ("split", "no_functions") else 25):
        program = random_program(seed, RECIPES[recipe])
        body = print_body(program, "f", Dialect("arm", real, sincos), LIVE)
        assert printed_operations(all_text(body)) == program.count, f"seed {seed}"


def test_the_counter_of_this_test_counts() -> None:
    text = "const arm_real_t t1 = -2.0 * (x0[1] - (-(p->m * 1e-05F)));\nout[0] = -t1 / sqrt(sinf(t1));"
    assert printed_operations(text) == OperationCount(mul=2, add=1, div=1, neg=2, sincos=1, sqrt=1)


def test_all_operations_are_covered() -> None:
    assert operations_used(random_program(1, RECIPES["split"])) == set(Op)


# ---- compiled


@pytest.fixture(scope="session")
def functions() -> dict[str, Function]:
    programs = {name: random_program(7, recipe) for name, recipe in RECIPES.items()}
    return {name: Function(name, name, program) for name, program in programs.items()}


@pytest.fixture(scope="session")
def modules(functions: dict[str, Function], tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], object]:
    model = model_of(*(f.program for f in functions.values()), names=list(functions))
    folder = tmp_path_factory.mktemp("bodies")
    return {
        (real, sincos): compiled(model, folder, precision=real, sincos=sincos)
        for real in ("double", "float")
        for sincos in ("fast", "libm")
    }


@pytest.mark.parametrize("sincos", ["fast", "libm"])
@pytest.mark.parametrize("real", ["double", "float"])
@pytest.mark.parametrize("name", RECIPES)
def test_compiled_equals_the_program(name: str, real: str, sincos: str, modules, functions) -> None:
    function = functions[name]
    for seed in range(20):
        arguments = random_arguments(function.program, seed)
        expected = function.program.evaluate(arguments, LIVE)
        status, results = call(modules[real, sincos], function, arguments, LIVE)
        assert status == 0
        tolerance = 1e-13 if real == "double" else 1e-4
        for key, value in expected.items():
            scale = max(1.0, np.abs(value).max())
            np.testing.assert_allclose(results[key], value, rtol=0, atol=tolerance * scale)


def test_without_transcendental_functions_the_bits_are_equal(modules, functions) -> None:
    function = functions["no_functions"]
    for seed in range(20):
        arguments = random_arguments(function.program, seed)
        expected = function.program.evaluate(arguments, LIVE)
        _, results = call(modules["double", "fast"], function, arguments, LIVE)
        for key, value in expected.items():
            np.testing.assert_array_equal(results[key], value)


# ---- pivots


@pytest.fixture(scope="session")
def quotient(tmp_path_factory: pytest.TempPathFactory) -> tuple[object, Function]:
    graph = Graph()
    x, y = graph.input("x[0]"), graph.input("x[1]")
    ten = Argument("z", (2, 5), "m", "quotients")
    program = Program(graph, [Argument("x", (2,), "m", "")], [(ten, [(y / x).ref, *[graph.one] * 9])], [x.ref, (-y).ref])
    model = model_of(program, names=["quotient"])
    return compiled(model, tmp_path_factory.mktemp("pivots")), model.functions[0]


@pytest.mark.parametrize("x", [(1.0, 2.0), (0.0, -1.0), (-1.0, -1.0), (math.nan, -1.0), (1.0, math.nan)])
def test_a_pivot_that_is_not_positive_fails_with_zero_outputs(x: tuple[float, float], quotient) -> None:
    status, results = call(*quotient, {"x": x}, LIVE)
    assert status == -1
    np.testing.assert_array_equal(results["z"], np.zeros((2, 5)))


def test_positive_pivots_succeed(quotient) -> None:
    status, results = call(*quotient, {"x": (4.0, -2.0)}, LIVE)
    assert status == 0
    assert results["z"].ravel().tolist() == [-0.5, *[1.0] * 9]


# ---- shape of the text


@pytest.fixture(scope="session")
def long_body() -> FunctionBody:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("elastogen.build.c.split.MOST_FIELDS", 100_000)
        return print_body(random_program(3, Recipe(6000)), "f", Dialect("arm", "double", "fast"), LIVE)


def test_long_bodies_are_cut_within_the_limits_of_c99(long_body: FunctionBody) -> None:
    assert len(long_body.parts) > 5
    for part in long_body.parts:
        declared = re.findall(r"arm_real_t (\w+)(?: =|\[)", "\n".join(part.lines))
        assert len(declared) == len(set(declared))
        assert len(declared) < 511
        assert sum("const arm_real_t" in line and "w->" not in line for line in part.lines) < 3 * LONGEST_PART


def test_travelling_values_are_named_fields_stored_and_loaded_once(long_body: FunctionBody) -> None:
    fields = re.findall(r"\w+(?=[,;])", "\n".join(long_body.work_fields))
    text = all_text(long_body)
    assert long_body.work_type == "arm_f_work_t"
    assert sorted(fields) == sorted(re.findall(r"^    w->(\w+) = ", text, flags=re.M))
    for part in long_body.parts:
        loads = re.findall(r"(?<!^    )w->(\w+)", "\n".join(part.lines), flags=re.M)
        assert len(loads) == len(set(loads)), part.name
    assert set(fields) == set(re.findall(r"(?<!^    )w->(\w+)", text, flags=re.M))


def test_where_very_many_values_travel_they_share_memory(functions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Less memory, the same values; no place is written before what was in it has been read."""
    function = functions["split"]
    whole = print_body(function.program, "f", Dialect("arm", "double", "fast"), LIVE)
    monkeypatch.setattr("elastogen.build.c.split.MOST_FIELDS", 0)
    body = print_body(function.program, "f", Dialect("arm", "double", "fast"), LIVE)
    assert printed_operations(all_text(body)) == function.program.count
    fields = len(re.findall(r"\w+(?=[,;])", "\n".join(whole.work_fields)))
    (places,) = re.findall(r"arm_real_t slot\[(\d+)\];", "\n".join(body.work_fields))
    assert int(places) < 0.8 * fields
    for part in body.parts:  # what a part reads, it does not write
        text = "\n".join(part.lines)
        written = set(re.findall(r"^    w->slot\[(\d+)\] = ", text, flags=re.M))
        assert not written & set(re.findall(r"= w->slot\[(\d+)\]", text))
    module = compiled(model_of(function.program, names=["split"]), tmp_path, precision="double", sincos="fast")
    for seed in range(5):
        arguments = random_arguments(function.program, seed)
        status, results = call(module, function, arguments, LIVE)
        assert status == 0
        for key, value in function.program.evaluate(arguments, LIVE).items():
            np.testing.assert_allclose(results[key], value, rtol=0, atol=1e-13 * max(1.0, np.abs(value).max()))


def test_no_line_is_wider_than_the_page(long_body: FunctionBody) -> None:
    lines = [*long_body.work_fields, *all_text(long_body).splitlines()]
    assert max(len(line) for line in lines) <= WIDTH


def test_sections_are_comments() -> None:
    assert "    /* step 0: values */" in print_body(random_program(1), "f", Dialect("arm", "double", "libm"), LIVE).lines


@pytest.mark.parametrize("recipe", ["medium", "split", "pivots"])
def test_a_section_is_one_stretch_of_a_function(recipe: str) -> None:
    body = print_body(random_program(8, RECIPES[recipe]), "f", Dialect("bot", "double", "fast"), LIVE)
    stretches = [[line for line in part.lines if "/*" in line] for part in body.parts] or [[x for x in body.lines if "/*" in x]]
    for comments in stretches:
        assert len(comments) == len(set(comments))
    assert any(len(comments) > 1 for comments in stretches)


def test_sines_of_neighbouring_inputs_read_the_array_itself() -> None:
    graph = Graph()
    q = [graph.input(f"q[{k}]") for k in range(4)]
    outputs = [graph.sin(q[k]) + graph.cos(q[k]) for k in (3, 1, 2)]
    program = Program(graph, [Argument("q", (4,), "rad", "")], [(Argument("z", (3,), "", ""), [v.ref for v in outputs])])
    assert "arm_sincos(&q[1], sine, cosine, 3);" in all_text(print_body(program, "f", Dialect("arm", "float", "fast")))
    text = all_text(print_body(program, "f", Dialect("arm", "double", "fast")))
    assert "arm_sincos_odd(&q[1], sine, cosine, 3);" in text
    assert "const arm_real_t sin_q3 = sine[2];" in text


def test_sums_of_inputs_are_angles_of_the_same_call() -> None:
    graph = Graph()
    a, b = graph.input("q[0]"), graph.input("q[1]")
    outputs = [graph.sin(a), graph.cos(a + b), graph.sin(a + b), graph.cos(graph.sin(b) * 2.0)]
    program = Program(graph, [Argument("q", (2,), "rad", "")], [(Argument("z", (4,), "", ""), [v.ref for v in outputs])])
    text = all_text(print_body(program, "f", Dialect("arm", "double", "fast")))
    assert "angle[3] = { q[0], q[1], q[0] + q[1] };" in text
    assert text.count("arm_sincos(") == 2


def test_runs_of_zeros_are_loops() -> None:
    graph = Graph()
    x = graph.input("x[0]")
    refs = [x.ref, *[graph.zero] * 6, graph.one]
    program = Program(graph, [Argument("x", (1,), "", "")], [(Argument("z", (8,), "", ""), refs)])
    text = all_text(print_body(program, "f", Dialect("arm", "float", "fast")))
    assert "for (int i = 1; i < 7; ++i) { z[i] = 0.0F; }" in text
    assert "z[7] = 1.0F;" in text


def test_unknown_inputs_are_refused() -> None:
    with pytest.raises(BuildError, match="'load' is neither an argument nor a live parameter"):
        print_body(random_program(1), "f", Dialect("arm", "double", "fast"), ["offset"])


# ---- pieces


def test_literals_read_back_exactly() -> None:
    rng = random.Random(5)
    numbers = [0.0, 1.0, 0.1, 1e16, 1e22, 123456789.0, 5e-324, 1.7976931348623157e308]
    numbers += [rng.uniform(-1, 1) * 10.0 ** rng.randint(-300, 300) for _ in range(500)]
    for number in numbers:
        text = literal(number, "double")
        assert float(text) == number
        assert "." in text or "e" in text
        if abs(number) < 3e38:
            single = literal(number, "float")
            assert single.endswith("F")
            assert "." in single or "e" in single
            assert np.float32(single[:-1]) == np.float32(number)


def test_a_number_beyond_float_is_refused() -> None:
    with pytest.raises(BuildError, match=r"1e\+39 does not fit a float"):
        literal(1e39, "float")


def test_local_names_are_valid_distinct_and_unreserved() -> None:
    labels = [
        "",
        "double",
        "sin",
        "sinf",
        "t1",
        "t1",
        "y0",
        "é",
        "3",
        "a b",
        "a_b",
        "a__b",
        "_x",
        "x_",
        "x" * 90,
        "x" * 91,
        "w",
    ]
    names = LocalNames({"w", "q"})
    given = [names.named(label) for label in labels]
    assert len(set(given)) == len(given)
    for name in given:
        assert re.fullmatch(r"[A-Za-z]\w*", name)
        assert "__" not in name
        assert len(name) < 63
        assert name not in KEYWORDS | LIBRARY_FUNCTIONS | MACROS | {"w", "q", "t1"}


def test_comments_cannot_be_left() -> None:
    for text in ("*/ int evil; /*", "**//*", "a??/\nb", "é\x00\x1b", "//*//", "\\", "@file x"):
        safe = comment_text(text)
        assert "*/" not in safe
        assert "/*" not in safe
        assert "??" not in safe
        assert safe.isascii()
        assert safe.isprintable()


def test_string_literals_keep_every_character(tmp_path: Path) -> None:
    text = 'a"b\\c??/d\\n' + "x" * 500
    joined = "".join(piece[1:-1] for piece in string_literals(text))
    assert joined.replace("\\?", "?").replace('\\"', '"').replace("\\\\", "\\") == text


def test_cuts_lie_where_few_values_cross() -> None:
    """Blocks of 120 statements that hand on one value each."""
    defines = [(k,) for k in range(480)]
    reads = [tuple(j for j in (k - 1, 120 * (k // 120)) if 0 <= j < k) for k in range(480)]
    cuts = choose_cuts(defines, reads, [])
    assert [round(bound, -1) for bound in cuts.bounds] == [0, 120, 240, 360, 480]
    assert len(cuts.travelling) == 3
