"""The page in which the emitted C runs: WebAssembly computes what the host computes, and a browser shows it."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import CHROMIUM, Browser

import elastogen
from elastogen.build.pages import wasm
from elastogen.build.pages.home import drives, home
from elastogen.build.pages.play import OUTPUTS, STEP, gains, parameter_range, play_page, robot_wasm, with_sliders
from elastogen.build.pages.skeleton import skeleton

pytest.importorskip("ziglang", reason="no ziglang: pip install 'elastogen[play]'")

FREE = {
    "elastogen": 1, "name": "free_arm", "base": "floating", "gravity": [0, 0, 0],
    "links": [
        {"name": "hub", "mass": 5.0, "inertia": [0.2, 0.3, 0.25]},
        {"name": "arm", "mass": 1.0, "com": [0.2, 0, 0], "inertia": [0.01, 0.02, 0.02]},
    ],
    "joints": [{"name": "shoulder", "type": "revolute", "child": "arm", "axis": [0, 1, 0], "placement": {"xyz": [0.3, 0, 0]}}],
}  # fmt: skip
RUN = """
const fs = require("fs");
const [q, qd, seconds, step, count] = JSON.parse(process.argv[2]);
const math = Object.fromEntries(["pow", "tanh", "exp", "log"].map((name) => [name, Math[name]]));
const robot = new WebAssembly.Instance(new WebAssembly.Module(fs.readFileSync("robot.wasm")), { math }).exports;
const array = (at, size) => new Float64Array(robot.memory.buffer, at, size);
robot.start();
array(robot.positions(), q.length).set(q);
array(robot.velocities(), qd.length).set(qd);
const status = robot.go(seconds, step);
const end = Array.from(array(robot.positions(), q.length)), rate = Array.from(array(robot.velocities(), qd.length));
console.log(JSON.stringify({ status, end, rate, nodes: Array.from(array(robot.draw(), 3 * count)) }));
"""


@pytest.mark.skipif(not shutil.which("node"), reason="no node to run WebAssembly in")
@pytest.mark.parametrize("name", ["two_link", "par_table3", FREE], ids=["two_link", "par_table3", "free"])
def test_webassembly_computes_what_the_host_computes(name: Any, tmp_path: Path, cache_dir: Path) -> None:
    robot = elastogen.load(name)
    drawing = skeleton(with_sliders(robot))
    (tmp_path / "robot.wasm").write_bytes(robot_wasm(drawing))
    (tmp_path / "run.js").write_text(RUN)
    model = elastogen.build_model(drawing.robot, outputs=["simulation", "point_positions"])
    q = model.integrate(model.neutral(), np.linspace(0.3, 0.01, model.nv))
    qd = np.linspace(0.1, -0.1, model.nv)
    given = json.dumps([list(q), list(qd), 0.05, STEP, len(drawing.robot.points)])
    done = subprocess.run(["node", "run.js", given], cwd=tmp_path, capture_output=True, text=True, check=True)
    there = json.loads(done.stdout)
    here = model.simulate(q, qd, t=[0.0, 0.05], method="generalized_alpha", step=STEP, rho_inf=0.9, rtol=1e-8, atol=1e-10)
    assert there["status"] == 0
    assert there["end"] == pytest.approx(here.q[-1], rel=1e-12, abs=1e-14)
    assert there["rate"] == pytest.approx(here.qd[-1], rel=1e-11, abs=1e-12)
    assert there["nodes"] == pytest.approx(np.ravel(model.point_positions(here.q[-1])), rel=1e-12, abs=1e-14)


@pytest.fixture(scope="module")
def page(cache_dir: Path) -> str:
    return play_page(elastogen.load("par_table3"))


def test_the_page_offers_joints_payload_and_stiffness(page: str) -> None:
    assert re.findall(r"<span>(\w+)</span><input type=\"range\" data-target", page) == ["joint1", "joint2"]
    parameters = re.findall(r"<span>(\w+)</span><input type=\"range\" data-parameter=\"(\d+)\"", page.replace("<wbr>", ""))
    assert [name for name, _ in parameters[:2]] == ["stiffness_scale", "payload_mass"]
    order = [parameter.name for parameter in with_sliders(elastogen.load("par_table3")).live_parameters]
    assert all(order[int(index)] == name for name, index in parameters)
    module = re.search(r', "([A-Za-z0-9+/=]+)"\);', page)
    assert module is not None
    assert base64.b64decode(module.group(1))[:4] == b"\0asm"


def test_only_joints_with_rates_have_drives(cache_dir: Path) -> None:
    """A free base drifts; the arm's joint is held: its position is the eighth, its velocity the seventh."""
    robot = skeleton(with_sliders(elastogen.load(FREE))).robot
    assert drives(robot) == {7: 6}
    model = elastogen.build_model(robot, outputs=list(OUTPUTS))
    start = home(robot, model)
    assert start[6] == 1.0  # the quaternion's last number
    kp, kd = gains(robot, model, start)
    assert (np.count_nonzero(kp), np.count_nonzero(kd), kp[6] > 0) == (1, 1, True)


def test_a_missing_compiler_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wasm, "find_spec", lambda name: None)
    with pytest.raises(elastogen.BuildError, match=r"needs the compiler of ziglang\. Fix: pip install 'elastogen\[play\]'"):
        wasm.compile_wasm({"a.c": ""}, "arm")


def test_a_failing_compiler_is_reported_in_its_own_words() -> None:
    with pytest.raises(elastogen.BuildError, match=r"compiling arm to WebAssembly failed: (.|\n)*no_such_thing"):
        wasm.compile_wasm({"a.c": "int a = no_such_thing;\n"}, "arm")


DRIVE = """(() => {
  const p = window.playground, start = Array.from(p.array("positions", p.setup.nq));
  p.running = false;  // the page's own clock stands still: what follows does not depend on it
  p.reset();
  const slider = document.querySelector("input[data-target='0']");
  slider.value = "0.5";
  slider.dispatchEvent(new Event("input"));
  const stiffness = document.querySelector("input[data-parameter]");
  stiffness.value = "0.5";
  stiffness.dispatchEvent(new Event("input"));
  for (let k = 0; k < 60; k++) p.advance(1 / 60);
  p.frame(performance.now());
  const drawn = new Set(p.viewer.context.getImageData(0, 0, p.viewer.canvas.width, p.viewer.canvas.height).data).size > 20;
  return { start, end: Array.from(p.array("positions", p.setup.nq)), failed: p.failed, time: p.time, drawn };
})()"""


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: apt-get install chromium")
def test_a_browser_runs_the_robot(page: str, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    with Browser(tmp_path / "profile") as browser:
        browser.open(tmp_path / "page.html")
        browser.wait_for("window.playground")
        seen = browser.ask(DRIVE)
        assert not browser.errors
        assert {address.partition(":")[0] for address in browser.requests} <= {"file", "data"}
    assert seen["failed"] == 0
    assert seen["drawn"]
    assert seen["time"] == pytest.approx(1.0)
    assert abs(seen["end"][0] - 0.5) < 0.2 < abs(seen["start"][0] - 0.5) + 0.2
    assert np.abs(seen["end"][2:]).max() > 0  # the link rings


PICTURES = """(() => {
  const p = window.playground;
  p.running = true;
  const spent = (slow, seconds) => {
    const from = p.time;
    p.slow = slow;
    p.before = 0;
    p.frame(1000 * seconds);
    return p.time - from;
  };
  return [spent(false, 0.2), spent(false, 5), spent(true, 0.2), spent(false, 0.004)];
})()"""


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: apt-get install chromium")
def test_few_pictures_do_not_slow_the_robot_down(page: str, tmp_path: Path) -> None:
    """At five pictures a second the robot went at a sixth of real time; a robot whose C is slow still must not catch up."""
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    with Browser(tmp_path / "profile") as browser:
        browser.open(tmp_path / "page.html")
        browser.wait_for("window.playground")
        assert browser.ask(PICTURES) == pytest.approx([0.2, 0.25, 1 / 30, 0.004])
        assert not browser.errors


def test_sliders_stay_where_a_robot_can_be() -> None:
    robot = with_sliders(elastogen.load("puma560", live=["payload", "links.forearm.inertia"]))
    ranges = {p.name: parameter_range(p, 20.0, 0.9) for p in robot.live_parameters}
    assert ranges["payload_mass"] == (0.0, 10.0)
    assert ranges["payload_com_x"] == (-0.225, 0.225)
    assert ranges["gravity_z"] == (-12.0, 12.0)
    assert ranges["payload_inertia_xy"] == (0.0, 0.0)  # anything else is impossible beside moments of zero
    assert 0.0 == ranges["payload_inertia_xx"][0] < ranges["payload_inertia_xx"][1] < 1.0
    assert ranges["forearm_inertia_xx"] == (0.066, 3 * 0.066)
    for name, (low, high) in ranges.items():
        assert low <= robot.parameters[name].value <= high
