"""C files of the sample robot for another robot: prefix, features, precision, parts."""

from __future__ import annotations

import re

import pytest

from elastogen.build.files.simulation import OPTIONAL
from elastogen.build.plain_c.emission import Emission, files, parts, source
from elastogen.build.plain_c.features import decided, value
from elastogen.build.plain_c.tokens import tokens


@pytest.mark.parametrize("path", sorted(files().values()))
def test_tokens_are_the_file(path: str) -> None:
    text = source(path)
    assert "".join(token.text for token in tokens(text)) == text


@pytest.mark.parametrize("name", ["arm", "robot", "robot_arm", "robot_robot_", "ROBOT"])
def test_every_word_of_the_prefix_is_renamed_once(name: str) -> None:
    text = 'robot_x = ROBOT_NQ + my_robot_x; /* robot_x of a robot, robot.h */ f("robot_y", "a robot"); #include "robot_z.h"'
    upper = name.upper()
    code = f"{name}_x = {upper}_NQ + my_robot_x; /* {name}_x of a robot, {name}.h */"
    assert Emission(name).renamed(text) == f'{code} f("{name}_y", "a robot"); #include "{name}_z.h"'


def test_names_of_users_in_generated_comments_stay() -> None:
    generated = {"robot_ik_frames.h": "/* 0: robot_tool, ROBOT_X */\n#define ROBOT_IK_FRAMES 1 /* robot.h */\n"}
    text = Emission("arm", features={"SINGLE": 0, "IK_CAN_FAIL": 0, "QUATERNIONS": 0}, generated=generated).file(
        "inverse_kinematics/robot_ik.h"
    )
    assert "/* 0: robot_tool, ROBOT_X */\n#define ARM_IK_FRAMES 1 /* robot.h */\n" in text
    assert "\0" not in text


def test_the_sample_is_written_for_itself() -> None:
    text = source("sample/robot.c")
    assert Emission("robot", words={}).renamed("int robot_f(int ROBOT_N);") == "int robot_f(int ROBOT_N);"
    assert "robot_forward_dynamics" in Emission("robot").renamed(text)


def test_numbers_and_functions_are_written_out_in_a_precision() -> None:
    text = "robot_scalar_t x = REAL(0.5) * ROBOT_SQRT(REAL(-1e-3)); /* a robot_scalar_t, 0.5 */"
    assert Emission("arm").renamed(text) == "double x = 0.5 * sqrt(-1e-3); /* a double, 0.5 */"
    assert Emission("arm", "float").renamed(text) == "float x = 0.5F * sqrtf(-1e-3F); /* a float, 0.5 */"


@pytest.mark.parametrize("wrong", ["REAL(x)", "REAL(1)", "REAL(0.5 + 1.0)", "REAL 0.5", "REAL(+0.5)"])
def test_only_numbers_with_a_point_have_a_precision(wrong: str) -> None:
    with pytest.raises(ValueError, match="expected one number with a point"):
        Emission("arm").renamed(f"x = {wrong} ; y")


def test_features_are_decided_and_other_conditions_stay() -> None:
    text = (
        "#if A\na\n#if B > 1\nb\n#else\nc\n#endif\n#else\nd\n#if defined(__AVX__)\ne\n#endif\n#endif\n#if C\nf\n#endif\nend\n"
    )
    assert decided(text, {"A": 1, "B": 1}) == "a\nc\n#if C\nf\n#endif\nend\n"
    assert decided(text, {"A": 0, "B": 2, "C": 0}) == "d\n#if defined(__AVX__)\ne\n#endif\nend\n"


@pytest.mark.parametrize(
    ("condition", "expected"),
    [("A", True), ("!A", False), ("A && B", False), ("A || B", True), ("(A > 2) /* why */", True), ("B == 0", True),
     ("A && C", None), ("defined(A)", None)],
)  # fmt: skip
def test_conditions(condition: str, expected: bool | None) -> None:
    assert value(condition, {"A": 3, "B": 0}) is expected


def test_a_part_stands_once_in_the_file_that_includes_it_and_what_it_needs_before_it() -> None:
    features = {"LANES": 0, "SLIDING": 0, "QUATERNIONS": 0, "TIMED": 0, "CONTROLLERS": 1, "SINGLE": 0}
    features |= {f"HAS_{name.upper()}": 1 for name in OPTIONAL}
    text = Emission("arm", features=features).plain("simulate/robot_simulate.c")
    assert text.count("static unsigned robot_sim_rk4(") == 1
    assert text.index("robot_sim_slope(\n") < text.index("robot_sim_rk4(")
    assert "robot_sim_slope.h" not in text
    assert text.index("#include <math.h>") < text.index("static")


def test_parts_say_what_they_are_part_of() -> None:
    for name, path in parts().items():
        first = source(path).partition("\n")[0]
        assert first.startswith(("/* Part of ", "/* Shared part: ")), name
        assert f"#ifndef {name.replace('.', '_').upper()}\n" in source(path), name


def test_numbers_of_a_simulation_that_ended() -> None:
    """Programs of users compare with them: what failed is negative, and no number changes."""
    found = re.findall(r"^#define ROBOT_SIM_STATUS_(\w+) +\(?(-?\d+)\)?", source("simulate/robot_simulate.h"), re.MULTILINE)
    failures = ["SINGULAR", "NOT_FINITE", "STEP_TOO_SMALL", "NEWTON", "FUNCTION", "EVENT", "ARGUMENT", "OUT_OF_RANGE", "OPEN"]
    assert {name: int(number) for name, number in found} == {
        "OK": 0, "CANCELLED": 1, **{name: -k for k, name in enumerate(failures, 1)}
    }  # fmt: skip
