"""The text of emitted files: what they promise, how hostile names are met, and that templates stay templates."""

from __future__ import annotations

import dataclasses
import json
import re
from importlib import resources
from pathlib import Path

import pytest
from build_samples import LIVE, Recipe, model_of, random_program, render, sample_robot

from elastogen.build.c.lines import WIDTH
from elastogen.build.files.render import RenderedModel, operations_text, render_model
from elastogen.build.identity import canonical, model_sha256
from elastogen.build.loop import loop_outputs, render_loop
from elastogen.build.options import BuildOptions, CompileOptions, EmitOptions
from elastogen.build.user_code import UserCode
from elastogen.generator.description.load_robot import load
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.functions.function import Function
from elastogen.generator.program.graph import Graph
from elastogen.generator.program.program import OperationCount, Program
from elastogen.generator.robot.errors import BuildError, OutputError
from elastogen.runtime import ABI_VERSION
from elastogen.runtime.interface.argument import Argument


@pytest.fixture(scope="module")
def rendered() -> RenderedModel:
    programs = [random_program(1), random_program(2, Recipe(900)), random_program(3, Recipe(60, pivots=2))]
    return render(model_of(*programs, names=["little", "long_one", "may_fail"]))


def test_header_holds_the_contract(rendered: RenderedModel) -> None:
    for piece in (
        "#ifndef SAMPLE_H", f"#define SAMPLE_ABI_VERSION {ABI_VERSION}", "#define SAMPLE_NQ 2",
        "#define SAMPLE_NFRAMES 2",
        "#define SAMPLE_ERROR_NOT_POSITIVE_DEFINITE (-1)", "typedef double sample_real_t;", 'extern "C" {',
        "extern const sample_params_t sample_params_nominal;", "void sample_little(", "int sample_may_fail(",
        "const sample_real_t x0[3]", "sample_real_t z1[6]", "6 values, 2 x 3 row-major", "input 0 [m]; 3 values",
        "elastogen 0.2.0", rendered.sha256, "Re-entrant",
    ):  # fmt: skip
        assert piece in rendered.header


def test_units_of_quaternions_are_not_those_of_modes() -> None:
    bodies = [{"name": name, "mass": 1.0, "inertia": [1, 1, 1]} for name in ("body", "arm")]
    joints = [{"name": "hinge", "type": "revolute", "child": "arm"}]
    description = {"elastogen": 1, "name": "free", "base": "floating", "links": bodies, "joints": joints}
    header = render_model(derive_model(load(description), ["gravity_vector"]), EmitOptions(outputs=("gravity_vector",))).header
    assert "base.z [m]" in header
    assert "base.qx [1]" in header
    assert "as its mode" not in header


def test_documentation_has_the_exact_operation_counts(rendered: RenderedModel) -> None:
    unwrapped = " ".join(rendered.header.replace("\n *     ", " ").split())
    assert f"@note Operations: {operations_text(random_program(1).count)}." in unwrapped
    assert operations_text(OperationCount(mul=2, sincos=3)) == "2 mul, 3 sin/cos"
    assert operations_text(OperationCount()) == "none"


def test_c_files_are_narrow_plain_text(rendered: RenderedModel) -> None:
    for text in (rendered.header, rendered.source, rendered.bundle["examples/example.c"]):
        assert text.isascii()
        assert text.endswith("\n")
        assert "\t" not in text
        own = text.split("#include <stdint.h>")[0] + text.rpartition("params_nominal = ")[2]
        assert max(len(line) for line in own.splitlines()) <= WIDTH + 10
        assert not any(line != line.rstrip() for line in text.splitlines())
        assert "\n\n\n" not in text


def test_no_dates_and_no_paths(rendered: RenderedModel) -> None:
    for text in (*rendered.c_files.values(), *rendered.bundle.values(), rendered.wrapper):
        assert not re.search(r"\b20[0-9]{2}-[0-9]{2}|/(home|tmp|work|root|usr)/", text)


def test_prototypes_are_the_same_in_header_and_source(rendered: RenderedModel) -> None:
    pattern = r"^(?:void|int) sample_\w+\([^)]*\)"
    assert re.findall(pattern, rendered.header, flags=re.M) == re.findall(pattern, rendered.source, flags=re.M)


def test_metadata_in_the_wrapper_is_the_json_of_the_contract(rendered: RenderedModel) -> None:
    literals = re.findall(r'^        "(.*)";?$', rendered.wrapper, flags=re.M)
    data = json.loads("".join(literals).replace("\\?", "?").replace('\\"', '"').replace("\\\\", "\\"))
    assert data["abi"] == ABI_VERSION
    assert data["name"] == "sample"
    assert data["real"] == "double"
    assert data["sha256"] == rendered.sha256
    assert data["c_files"] == ["sample.h", "sample.c"]
    assert data["coordinate_units"] == ["rad", "m"]
    assert data["parameters"][0] == {"name": "load", "value": 1.25, "unit": "kg", "doc": "the load"}
    assert [f["name"] for f in data["functions"]] == ["little", "long_one", "may_fail"]
    assert [f["can_fail"] for f in data["functions"]] == [False, False, True]
    assert data["functions"][0]["outputs"][1] == {
        "name": "z1",
        "shape": [2, 3],
        "unit": "N",
        "doc": "output 1",
    }
    assert data["functions"][0]["count"] == json.loads(json.dumps(dataclasses.asdict(random_program(1).count)))


def test_models_without_live_parameters_have_a_placeholder_field() -> None:
    text = render(model_of(random_program(1, Recipe(20, live=())), robot=sample_robot(live={}))).header
    assert re.search(r"sample_real_t unused;\n} sample_params_t", text)


def test_float_models_have_no_double_in_them() -> None:
    rendered = render(model_of(random_program(4, Recipe(300, labels=0))), precision="float", sincos="libm")
    code = re.sub(r"/\*.*?\*/", "", rendered.source, flags=re.S)
    assert "double" not in code
    assert not re.search(r"\b(sin|cos|sqrt|tanh)\(", code)
    assert not re.search(r"\d\.\d+(e[-+]?\d+)?(?![\dF.e])", code)


# ---- hostile and odd names


@pytest.mark.parametrize("name", ["int", "a b", "1arm", "x;}", "", "_x", "a__b", "arm-1", "é", "linux", "x\ny", 'a"b'])
def test_names_that_are_no_identifiers_never_reach_c(name: str) -> None:
    program = random_program(1, Recipe(20, live=()))
    with pytest.raises(BuildError, match="name"):
        render(model_of(program, robot=sample_robot(name)))
    with pytest.raises(BuildError):
        render(model_of(program, robot=sample_robot(live={name: 1.0})))
    with pytest.raises(BuildError):
        render(model_of(program, names=[name]))


@pytest.mark.parametrize("name", ["p", "w", "i", "status", "q q", "double"])
def test_argument_names_that_clash_are_refused(name: str) -> None:
    graph = Graph()
    argument = Argument(name, (1,), "", "")
    program = Program(graph, [argument], [(Argument("z", (1,), "", ""), [graph.input(argument.element(0)).ref])])
    with pytest.raises(BuildError):
        render(model_of(program))


def test_equal_names_are_refused() -> None:
    with pytest.raises(BuildError, match="two functions"):
        render(model_of(random_program(1), random_program(2), names=["f", "f"]))


INJECTION = '*/ #error "evil" /* ??/ \n" \\ @endcode é'


def test_texts_cannot_leave_comments_and_strings() -> None:
    robot = dataclasses.replace(sample_robot(), description=INJECTION)
    parameters = {"load": dataclasses.replace(robot.parameters["load"], doc=INJECTION, unit=INJECTION)}
    robot = dataclasses.replace(robot, parameters=parameters)
    graph = Graph()
    x = graph.input("x[0]")
    with graph.section(INJECTION):
        value = graph.name(x * x, INJECTION) + graph.input("load")
    output = (Argument("z", (2,), "", INJECTION), [value.ref, (x * x).ref])
    function = Function("f", INJECTION, Program(graph, [Argument("x", (1,), INJECTION, INJECTION)], [output]))
    model = dataclasses.replace(
        model_of(random_program(1)),
        robot=robot,
        functions=(function,),
        coordinate_names=(INJECTION, "b"),
        frame_names=(INJECTION,),
    )
    rendered = render(model)
    for text in (*rendered.c_files.values(), rendered.bundle["examples/example.c"]):
        code = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        assert "evil" not in code.replace("evil_", "")
        assert text.isascii()
    code = re.sub(r'"(\\.|[^"\\])*"', "", re.sub(r"/\*.*?\*/", "", rendered.wrapper, flags=re.S))
    assert "evil" not in code


# ---- identity


def test_identity_sees_the_content_and_not_the_source() -> None:
    robot = sample_robot()
    options = EmitOptions()
    same = dataclasses.replace(robot, source="/somewhere/else.yaml")
    other = dataclasses.replace(robot, gravity=(0, 0, -9.810000000000002))
    assert model_sha256(robot, options) == model_sha256(same, options)
    assert model_sha256(robot, options) != model_sha256(other, options)
    assert model_sha256(robot, options) != model_sha256(robot, EmitOptions(precision="float"))


def test_canonical_text_keeps_every_digit() -> None:
    sympy = pytest.importorskip("sympy")
    assert canonical(sympy.Float(0.1)) != canonical(sympy.Float(0.1 + 2**-56))
    assert canonical({"a": (1, 2.0)}) == "{'a':(1,2.0)}"


# ---- options and templates


@pytest.mark.parametrize(
    "wrong",
    [
        {"precision": "half"}, {"sincos": "slow"}, {"outputs": []}, {"outputs": [3]}, {"fp_contract": "on"},
        {"timeout": 0}, {"cflags": [1]},
    ],
)  # fmt: skip
def test_wrong_options_say_what_is_expected(wrong: dict[str, object]) -> None:
    with pytest.raises(OutputError, match=f"{next(iter(wrong))}: got .* expected"):
        BuildOptions.checked(**wrong)  # type: ignore[arg-type]


def test_options_take_strings_for_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ELASTOGEN_CFLAGS", raising=False)
    options = BuildOptions.checked(cflags="-g -Wall", outputs="mass_matrix")
    assert options.compile == CompileOptions(cflags=("-g", "-Wall"))
    assert options.emit.outputs == ("mass_matrix",)


def test_flags_of_the_environment_come_before_the_callers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELASTOGEN_CFLAGS", "-O0 '-DWORD=a b'")
    assert BuildOptions.checked(cflags=["-O3"]).compile.cflags == ("-O0", "-DWORD=a b", "-O3")


def test_entry_templates_are_short_and_say_their_context() -> None:
    room = Path(str(resources.files("elastogen.templates")))
    entries = sorted(path for path in room.rglob("*.j2") if path.name not in ("_macros.j2", "sincos.c.j2"))
    assert len(entries) > 50
    for entry in entries:
        text = entry.read_text(encoding="utf-8")
        assert text.count("\n") < 80, entry
        assert "Context: " in text.partition("#}")[0], entry


def test_cffi_is_reported_every_function_of_the_headers_of_a_loop() -> None:
    options = BuildOptions.checked(outputs=loop_outputs(load("two_link")))
    model = render_loop(load("two_link"), options, UserCode())
    names = {
        "two_link_loop_": "eg_loop_",
        "two_link_shared_": "eg_shared_",
        "two_link_real_t": "eg_real_t",
        "double": "eg_real_t",
    }
    headers = [text for name, text in model.simulation.items() if name.endswith(".h")]
    prototypes = re.findall(r"^\w+ two_link_\w+\(.*\);$", "\n".join(headers), flags=re.MULTILINE)
    assert len(prototypes) > 30
    for prototype in prototypes:
        said = re.sub("|".join(names), lambda name: names[name[0]], prototype)
        assert said in model.cdef.splitlines(), prototype


def test_live_values_are_the_nominal_ones(rendered: RenderedModel) -> None:
    assert "1.25, /* load */\n    -0.75 /* offset */" in rendered.source
    assert list(LIVE.values()) == [1.25, -0.75]
