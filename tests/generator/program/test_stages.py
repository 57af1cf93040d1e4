"""Each stage of a derivation runs once, whatever is derived, and functions do not see each other."""

import gc
import threading

import pytest
from robots_for_tests import quietly_loaded

import elastogen
from elastogen.build.c.dialect import Dialect
from elastogen.build.c.function import print_body
from elastogen.generator.functions import variants
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.program.collection import paused_collection

NAMES = ("forward_kinematics", "mass_matrix", "gravity_vector", "inverse_dynamics", "forward_dynamics", "potential_energy")


@pytest.mark.parametrize(("name", "most"), [("two_link", 3), ("par_experiment", 6)])
def test_the_mechanism_is_built_once_for_each_layout(name, most, monkeypatch):
    """As described, with base parameters, with other frames; with windows each of them twice."""
    built = []
    original = variants.build_mechanism
    monkeypatch.setattr(variants, "build_mechanism", lambda *given, **how: built.append(how) or original(*given, **how))
    derive_model(quietly_loaded(name), NAMES)
    assert len(built) <= most
    assert len({tuple(sorted((key, str(value)) for key, value in how.items())) for how in built}) == len(built)


@pytest.mark.parametrize("name", ["scara", "rpb_table3"])
def test_a_function_is_the_same_whatever_else_is_derived(name):
    robot = quietly_loaded(name)
    live = [parameter.name for parameter in robot.live_parameters]

    def texts(names):
        found = derive_model(robot, names).functions
        return {f.name: print_body(f.program, f.name, Dialect(name, "double", "fast"), live) for f in found}

    together = texts(NAMES)
    for one in NAMES:
        assert texts((one,))[one] == together[one], one


@pytest.mark.parametrize("enabled", [True, False])
def test_the_search_for_cycles_is_as_it_was_after_a_derivation_even_one_that_failed(enabled):
    found = gc.isenabled()
    try:
        gc.enable() if enabled else gc.disable()
        with pytest.raises(elastogen.OutputError):
            derive_model(quietly_loaded("two_link"), "gravity")
        assert gc.isenabled() is enabled
    finally:
        gc.enable() if found else gc.disable()


def test_the_search_for_cycles_stays_paused_while_another_thread_derives():
    entered, leave = threading.Event(), threading.Event()

    @paused_collection()
    def derive_slowly():
        entered.set()
        leave.wait(60)

    assert gc.isenabled()
    thread = threading.Thread(target=derive_slowly)
    thread.start()
    try:
        assert entered.wait(60)
        with paused_collection():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        leave.set()
        thread.join()
    assert gc.isenabled()
