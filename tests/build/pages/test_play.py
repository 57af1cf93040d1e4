"""The page in which the emitted C runs: WebAssembly computes what the host computes, and a browser shows it."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import elastogen
from elastogen.build.pages import wasm
from elastogen.build.pages.play import OUTPUTS, STEP, play_page, robot_wasm, with_sliders
from elastogen.build.pages.skeleton import skeleton

pytest.importorskip("ziglang", reason="no ziglang: pip install 'elastogen[play]'")
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

RUN = """
const fs = require("fs");
const [q, qd, seconds, step, count] = JSON.parse(process.argv[2]);
const math = Object.fromEntries(["pow", "tanh", "exp", "log"].map((name) => [name, Math[name]]));
const robot = new WebAssembly.Instance(new WebAssembly.Module(fs.readFileSync("robot.wasm")), { math }).exports;
const array = (at, size) => new Float64Array(robot.memory.buffer, at, size);
robot.start();
array(robot.positions(), q.length).set(q);
array(robot.velocities(), q.length).set(qd);
const status = robot.go(seconds, step);
const end = Array.from(array(robot.positions(), q.length)), rate = Array.from(array(robot.velocities(), q.length));
console.log(JSON.stringify({ status, end, rate, nodes: Array.from(array(robot.draw(), 3 * count)) }));
"""


@pytest.mark.skipif(not shutil.which("node"), reason="no node to run WebAssembly in")
@pytest.mark.parametrize("name", ["two_link", "par_table3"])
def test_webassembly_computes_what_the_host_computes(name: str, tmp_path: Path, cache_dir: Path) -> None:
    robot = elastogen.load(name)
    drawing = skeleton(with_sliders(robot))
    (tmp_path / "robot.wasm").write_bytes(robot_wasm(drawing))
    (tmp_path / "run.js").write_text(RUN)
    model = elastogen.build_model(drawing.robot, outputs=list(OUTPUTS))
    q = np.full(model.nq, 0.01)
    q[0] = 0.3
    qd = np.linspace(0.1, -0.1, model.nq)
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
    parameters = re.findall(r"<span>(\w+)</span><input type=\"range\" data-parameter=\"(\d+)\"", page)
    assert [name for name, _ in parameters[:2]] == ["stiffness_scale", "payload_mass"]
    order = [parameter.name for parameter in with_sliders(elastogen.load("par_table3")).live_parameters]
    assert all(order[int(index)] == name for name, index in parameters)
    module = re.search(r', "([A-Za-z0-9+/=]+)"\);', page)
    assert module is not None
    assert base64.b64decode(module.group(1))[:4] == b"\0asm"


def test_a_missing_compiler_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wasm, "find_spec", lambda name: None)
    with pytest.raises(elastogen.BuildError, match=r"needs the compiler of ziglang\. Fix: pip install 'elastogen\[play\]'"):
        wasm.compile_wasm({"a.c": ""}, "arm")


def test_a_failing_compiler_is_told_in_its_own_words() -> None:
    with pytest.raises(elastogen.BuildError, match=r"compiling arm to WebAssembly failed:\n(.|\n)*no_such_thing"):
        wasm.compile_wasm({"a.c": "int a = no_such_thing;\n"}, "arm")


DRIVE = """
<script>
window.addEventListener("load", () => setTimeout(() => {
  const p = window.playground, start = Array.from(p.array("positions", p.setup.nq));
  const slider = document.querySelector("input[data-target='0']");
  slider.value = "0.5";
  slider.dispatchEvent(new Event("input"));
  const stiffness = document.querySelector("input[data-parameter]");
  stiffness.value = "0.5";
  stiffness.dispatchEvent(new Event("input"));
  for (let k = 0; k < 60; k++) p.advance(1 / 60);
  p.frame(performance.now());  // a picture now: a headless browser under load may not have asked for one yet
  const drawn = p.viewer.context.getImageData(0, 0, 400, 400).data.some((x) => x !== 0);
  const report = { start, end: Array.from(p.array("positions", p.setup.nq)), failed: p.failed, time: p.time, drawn };
  document.body.setAttribute("data-report", JSON.stringify(report));
}, 500));
window.addEventListener("error", (event) => document.body.setAttribute("data-error", event.message));
</script></body>
"""


def in_browser(page: str, folder: Path) -> str:
    """The document after a few seconds in a headless browser."""
    (folder / "page.html").write_text(page, encoding="utf-8")
    flags = [
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync", f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=4000",
    ]  # fmt: skip
    command = [str(BROWSER), *flags, "--dump-dom", (folder / "page.html").as_uri()]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout


@pytest.mark.skipif(BROWSER is None, reason="no Chromium: apt-get install chromium")
def test_a_browser_runs_the_robot(page: str, tmp_path: Path) -> None:
    document = in_browser(page.replace("</body>", DRIVE), tmp_path)
    assert "data-error" not in document.partition("<body")[2].partition(">")[0]
    found = re.search(r'data-report="([^"]*)"', document)
    assert found is not None
    seen = json.loads(found.group(1).replace("&quot;", '"'))
    assert seen["failed"] == 0
    assert seen["drawn"]
    assert seen["time"] >= 1.0
    assert abs(seen["end"][0] - 0.5) < 0.2 < abs(seen["start"][0] - 0.5) + 0.2
    assert np.abs(seen["end"][2:]).max() > 0  # the link rings
