"""A loop is linked with the functions of its model: they are neither derived nor compiled again."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import elastogen
from elastogen.build.linking import compiled_before
from elastogen.build.loop import loop_outputs
from elastogen.build.module import compilers
from elastogen.build.options import BuildOptions
from elastogen.build.pipeline import build_extension
from elastogen.generator.functions import derivation
from elastogen.runtime.loop.controllers import ComputedTorqueLaw
from elastogen.runtime.loop.loop import Loop
from elastogen.runtime.loop.plants import Simulated

FUNCTION = re.compile(r"^(?:int|void) two_link_(?!loop|shared)\w+\(", re.MULTILINE)


@pytest.fixture
def work(monkeypatch):
    """Names of functions that are derived, and C files that are compiled."""
    derived, compiled = [], []
    derive, start = derivation.derive_function, compilers.Compilers.start

    def deriving(family, entry):
        derived.append(entry.name)
        return derive(family, entry)

    def compiling(self, command, directory):
        compiled.extend(Path(directory, word).read_text() for word in command if word.endswith(".c"))
        return start(self, command, directory)

    monkeypatch.setattr(derivation, "derive_function", deriving)
    monkeypatch.setattr(compilers.Compilers, "start", compiling)
    return derived, compiled


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """A loop that was built without a model."""
    return elastogen.build_loop("two_link", cflags="-O0", cache_dir=tmp_path_factory.mktemp("alone"))


def records(loop):
    loop.move_to([0.4, -0.3], 0.02)
    loop.step(40)
    return loop.read()


def assert_same(loop, alone):
    """Both move alike, to the last bit, and say the same about their functions."""
    own = records(Loop(alone, controller="computed_torque", plant=Simulated([0.1, 0.2])))
    linked = records(loop)
    for field in ("q", "qd", "q_ref", "F", "status"):
        assert linked[field].tobytes() == own[field].tobytes()
    one, other = (json.loads(library.ffi.string(library.lib.eg_metadata())) for library in (alone, loop.library))
    assert one == other


@pytest.mark.parametrize("flags", ["-O0", "-O1"])  # one object of all functions; units that are compiled on the way
def test_nothing_is_derived_or_compiled_again(work, alone, tmp_path, flags):
    derived, compiled = work
    model = elastogen.build_model(
        "two_link", outputs=loop_outputs(elastogen.load("two_link")), cflags=flags, cache_dir=tmp_path
    )
    assert "inverse_dynamics" in derived
    assert any(FUNCTION.search(text) for text in compiled)
    derived.clear()
    compiled.clear()
    loop = model.loop(controller="computed_torque", plant=Simulated([0.1, 0.2]))
    assert derived == []
    (module,) = compiled
    assert '#include "two_link.h"' in module
    assert '#include "two_link.c"' not in module
    assert not FUNCTION.search(module)
    assert_same(loop, alone)


def test_only_what_the_model_lacks_is_derived(work, alone, tmp_path):
    """Nominal parameters stand in both objects, under two names."""
    derived, _ = work
    few = elastogen.build_model("two_link", outputs=["inverse_dynamics"], cflags="-O0", cache_dir=tmp_path)
    derived.clear()
    loop = few.loop(controller="computed_torque", plant=Simulated([0.1, 0.2]))
    assert {*derived, "inverse_dynamics"} == {*loop_outputs(elastogen.load("two_link"))}
    assert_same(loop, alone)


def test_damaged_objects_are_not_linked(tmp_path):
    robot, names = elastogen.load("two_link"), ("inverse_dynamics",)
    options = BuildOptions.checked(outputs=names, cache_dir=tmp_path)
    assert compiled_before(robot, names, options) is None  # no model is there
    (unit,) = build_extension(robot, options).parent.glob("*.o")
    found = compiled_before(robot, names, options)
    assert found is not None
    assert found.objects == (unit,)
    unit.write_bytes(unit.read_bytes()[:-1] + b"?")
    assert compiled_before(robot, names, options) is None


@pytest.mark.nightly
def test_sliding_joints_choose_their_elements_in_the_model(work, tmp_path):
    derived, _ = work
    model = elastogen.build_model("rpb_table3", outputs=["simulation", "elastic_inverse_dynamics"], cache_dir=tmp_path)
    derived.clear()
    start = np.zeros(model.nq)
    start[[joint.coordinate for joint in model.metadata.sliding]] = 0.4
    loop = model.loop(controller="pd_gravity", plant=Simulated(start))
    assert derived == []
    other = Loop(
        elastogen.build_loop("rpb_table3", cache_dir=tmp_path / "alone"), controller="pd_gravity", plant=Simulated(start)
    )
    for each in (loop, other):
        each.step(5)
    assert loop.read()["q"].tobytes() == other.read()["q"].tobytes()


@pytest.mark.nightly
@pytest.mark.parametrize("lanes", [False, True])
def test_models_without_a_loop_of_their_own_are_enough(work, tmp_path, lanes):
    """build_loop takes the functions of the default model, in lanes too."""
    derived, _ = work
    model = elastogen.build_model("two_link", lanes=lanes, cache_dir=tmp_path)
    derived.clear()
    model.loop(controller="pd_gravity", plant=Simulated([0.1, 0.2]))
    elastogen.build_loop("two_link", outputs=["mass_matrix"], lanes=lanes, cache_dir=tmp_path)
    assert derived == []


def test_a_mechanism_is_linked_with_its_model(tmp_path):
    """The C that closes its loops is not among the functions of the model."""
    model = elastogen.build_model("five_bar", cflags="-O0", cache_dir=tmp_path)
    start = model.close_loops(np.full(4, 0.4))
    law = ComputedTorqueLaw(kp=100, kd=20)
    loop = model.loop(controller=law, plant=Simulated(start), rate=1000, free_running=True)
    loop.step(20)
    rows = loop.read()
    assert not rows["status"].any()
    assert np.abs(model.loop_residual(rows["q"])).max() < 1e-10
