"""Values that end a recursion, cannot be printed, or are numbers of another library: refused with their place, or taken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import elastogen
from elastogen.generator.description.couplings import couple
from elastogen.generator.joints.coupled import leader
from elastogen.generator.robot.errors import RobotError
from elastogen.generator.robot.location import Location

LONG = 10**5000


def deep(kind: type) -> Any:
    value: Any = kind()
    for _ in range(5000):
        value = {"a": value} if kind is dict else [value]
    return value


class Broken:
    def __repr__(self) -> str:
        raise OSError("no")


def arm(**changes: Any) -> dict[str, Any]:
    return {
        "elastogen": 1, "name": "arm", "links": [{"name": "base"}, {"name": "rod", "mass": 1, "inertia": [1, 1, 1]}],
        "joints": [{"name": "turn", "type": "revolute", "parent": "base", "child": "rod", "axis": [0, 0, 1]}], **changes,
    }  # fmt: skip


STRANGE = [
    LONG,
    -LONG,
    deep(dict),
    deep(list),
    Broken(),
    np.ma.masked,
    np.array([object()]),
    np.datetime64("2020"),
]


@pytest.mark.parametrize("value", STRANGE, ids=lambda value: f"{type(value).__name__}")
def test_they_are_refused_wherever_they_stand(value: Any) -> None:
    links: list[Any] = arm()["links"]
    places: list[Any] = [
        arm(name=value), arm(parameters={"k": value}), arm(gravity=[0, 0, value]), arm(links=value), arm(simulation=value),
        arm(links=[links[0], {**links[1], "mass": value}]), arm(links=[links[0], {**links[1], "inertia": value}]),
        arm(terms=[{"name": "t", "potential": value}]), arm(elastogen=value), value,
    ]  # fmt: skip
    for data in places:
        with pytest.raises(elastogen.ElastogenError):
            elastogen.load(data)
    for options in ({"tip": value}, {"lock": {"turn": value}}, {"lock": value}, {"live": [value]}):
        with pytest.raises(elastogen.ElastogenError):
            elastogen.load(arm(), **options)


@pytest.mark.parametrize("key", ["links", "terms", "loops", "points", "live", "name", "snap"])
@pytest.mark.parametrize(
    "value",
    [np.void(b"abc"), np.array((1, 2.0), dtype=[("a", int), ("b", float)])[()], iter([]), b"arm", np.complex128(1j)],
    ids=["void", "record", "iterator", "bytes", "complex"],
)
def test_what_is_no_value_of_a_file_is_refused_by_its_key(key: str, value: Any) -> None:
    """Pydantic takes an empty list, a text or a truth for some of them."""
    with pytest.raises(RobotError, match=rf"{key}: got .*{type(value).__name__}.*a list or a mapping"):
        elastogen.load(arm(**{key: value}))
    with pytest.raises(RobotError, match=r"links\.rod\.mass: got"):
        elastogen.load(arm(links=[{"name": "base"}, {"name": "rod", "mass": value}]))


def test_a_circle_is_too_deep() -> None:
    data = arm()
    data["parameters"] = data
    with pytest.raises(RobotError, match="at most 60 values inside each other"):
        elastogen.load(data)


@pytest.mark.parametrize("number", [np.float64(2), np.float32(2), np.int64(2)], ids=lambda number: type(number).__name__)
def test_numbers_of_numpy_are_numbers(number: Any) -> None:
    links: list[Any] = arm()["links"]
    robot = elastogen.load(arm(links=[links[0], {**links[1], "mass": number}]))
    assert robot.links[1].body.mass == 2


def nested(count: int, start: str, end: str, inside: str = "") -> str:
    return start * count + inside + end * count


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("arm.xml", f"<mujoco><worldbody>{nested(3000, '<body>', '</body>')}</worldbody></mujoco>"),
        ("arm.sdf", f"<sdf version='1.9'>{nested(3000, '<model>', '</model>')}</sdf>"),
        ("arm.urdf", f"<robot name='a'>{nested(3000, '<link>', '</link>')}</robot>"),
    ],
)
def test_deep_files_are_refused(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(RobotError, match="at most 400 XML elements inside each other"):
        elastogen.load(tmp_path / name)


def test_long_chains_of_poses(tmp_path: Path) -> None:
    """Poses relative to each other, 3000 in a row: 0.001 m each."""
    frames = "".join(
        f"<frame name='f{i}' attached_to='{'hub' if i == 0 else f'f{i - 1}'}'><pose>0.001 0 0 0 0 0</pose></frame>"
        for i in range(3000)
    )
    text = f"""<sdf version='1.9'><model name='arm'>{frames}<link name='hub'/>
      <link name='rod'><pose relative_to='f2999'/></link>
      <joint name='turn' type='revolute'><parent>f2999</parent><child>rod</child>
      <axis><xyz>0 0 1</xyz></axis></joint></model></sdf>"""
    path = tmp_path / "arm.sdf"
    path.write_text(text)
    (turn,) = elastogen.load(path).joints
    assert turn.parent == "hub"
    assert turn.before[0][3] == pytest.approx(3.0, rel=1e-12)


def test_a_chain_of_followers_is_solved_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each follows the one before it: as many substitutions as followers, where there were as many as pairs of them."""
    import sympy

    n, calls = 120, []
    links = [{"name": "base"}, *({"name": f"l{i}", "mass": 1, "inertia": [1, 1, 1]} for i in range(n))]
    joints = [
        {"name": f"j{i}", "type": "revolute", "parent": "base" if i == 0 else f"l{i - 1}", "child": f"l{i}", "axis": [0, 0, 1]}
        for i in range(n)
    ]
    robot = elastogen.load(arm(links=links, joints=joints))
    plain = sympy.Add.xreplace
    monkeypatch.setattr(sympy.Add, "xreplace", lambda self, rule: (calls.append(1), plain(self, rule))[1])
    positions = {f"j{i}": 2 * leader(f"j{i - 1}") + 1 for i in range(1, n)}
    coupled = couple(robot, positions, Location("python"))
    last = coupled.joints[-1].coupling
    assert last is not None
    assert last.position == 2 ** (n - 1) * leader("j0") + 2 ** (n - 1) - 1
    assert len(calls) <= n
    with pytest.raises(RobotError, match="not in a circle"):
        couple(robot, {"j0": leader("j1"), "j1": leader("j0")}, Location("python"))
