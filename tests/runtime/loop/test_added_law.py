"""The recipe of docs/architecture.md: a controller from outside, in Python and in C; and the registry itself."""

from __future__ import annotations

import re
import sys
import textwrap
import types
from pathlib import Path

import numpy as np
import pytest

import elastogen
import elastogen.control
from elastogen.build.plain_c import emission
from elastogen.build.plain_c.emission import parts
from elastogen.runtime.loop.controllers import BY_NAME
from elastogen.runtime.loop.laws import registry
from elastogen.runtime.loop.laws.gravity_friction import GravityFriction
from elastogen.runtime.loop.loop import Loop
from elastogen.runtime.loop.plants import Simulated

ROOT = Path(__file__).parents[3]
DRIVEN = {
    "elastogen": 1,
    "name": "geared",
    "gravity": [0, -9.81, 0],
    "links": [{"name": "base"}, {"name": "bar", "mass": 2, "com": [0.3, 0, 0], "inertia": [0.01, 0.1, 0.1]}],
    "joints": [
        {
            "name": "hinge", "type": "revolute", "child": "bar", "axis": [0, 0, 1],
            "friction": {"viscous": 0.7, "coulomb": 1.5, "coulomb_velocity": 0.02},
        }
    ],
}  # fmt: skip


def recipe() -> dict[str, str]:
    """The texts of the recipe, in their order: class, C file, entry."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    part = text[text.index("- **a controller of the loop**") : text.index("- **a template**")]
    blocks = [textwrap.dedent(block) for block in re.findall(r"  ```(?:python|c)\n(.*?)  ```", part, flags=re.S)]
    return dict(zip(("class", "c", "entry"), blocks, strict=True))


def test_controllers_of_the_catalogue_have_one_place() -> None:
    for law in registry.LAWS:
        assert getattr(elastogen.control, law.load().__name__) is law.load()


def test_a_controller_from_the_recipe(monkeypatch, cache_dir) -> None:
    texts = recipe()
    module = types.ModuleType("elastogen.runtime.loop.laws.bang_bang")
    exec(texts["class"], module.__dict__)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    entry = eval(texts["entry"], {"Law": registry.Law})
    monkeypatch.setattr(registry, "LAWS", (*registry.LAWS, entry))
    known, read = emission.files(), emission.source
    added = {"robot_loop_bang_bang.h": "loop/control/robot_loop_bang_bang.h"}
    monkeypatch.setattr(emission, "files", lambda: known | added)
    monkeypatch.setattr(emission, "source", lambda path: texts["c"] if path in added.values() else read(path))
    monkeypatch.setattr(emission, "parts", emission.parts.__wrapped__)
    library = elastogen.build_loop("two_link", cflags="-DADDED")  # of its own: not one that is in the cache
    assert "bang_bang" in library.controllers
    assert BY_NAME["bang_bang"] is module.BangBang
    loop = Loop(library, controller=module.BangBang(kp=[3.0, 2.0], kd=0.1), plant=Simulated([0.2, 0.1], [0.0, 0.5]))
    loop.set_reference([0.3, 0.1])
    loop.step()
    record = loop.read()[0]
    expected = library.model.gravity_vector(record["q"]) + [3.0, -2.0] * np.ones(2)
    np.testing.assert_allclose(record["F"], expected, rtol=1e-13)


def test_the_registry_is_what_all_read(library) -> None:
    from elastogen.commands.motion.run import CONTROLLERS

    names = [law.name for law in registry.LAWS]
    assert len(set(names)) == len(names)
    assert list(library.controllers) == [law.name for law in registry.emitted()]
    assert set(CONTROLLERS) == {law.name for law in registry.LAWS if law.on_command_line}
    page = (ROOT / "docs" / "running" / "real-time-loop.md").read_text(encoding="utf-8")
    for law in registry.LAWS:
        assert law.load().name == law.name
        assert f"`{law.load().__name__}" in page
        assert (f"robot_loop_{law.name}.h" in parts()) == law.in_c
    header = (Path(library.model.extension).parent / "two_link_loop.h").read_text()
    for law in registry.emitted():
        assert f"int two_link_loop_{law.name}(" in header
    with pytest.raises(KeyError):
        BY_NAME["nobody"]


def test_gravity_and_friction_are_compensated(cache_dir) -> None:
    """Against the closed form: 2 kg at 0.3 m, viscous and Coulomb friction at the velocity of the reference."""
    library = elastogen.build_loop(DRIVEN)
    loop = Loop(library, controller=GravityFriction(kp=0.0, kd=0.0), plant=Simulated([0.4]))
    for speed in (0.5, -0.3, 0.01):
        loop.set_reference([0.4], qd=[speed])
        loop.step()
        record = loop.read()[0]
        friction = 0.7 * speed + 1.5 * np.tanh(speed / 0.02)
        np.testing.assert_allclose(record["F"], [2 * 9.81 * 0.3 * np.cos(record["q"][0]) + friction], rtol=1e-12)
