"""The viewer in a real browser: it draws what kinematics says, at both sizes, and is pulled; sliders; the local server."""

from __future__ import annotations

import http.client
import io
import json
import shutil
import subprocess
import threading
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from browser import CHROMIUM, Browser

import elastogen
from elastogen.build.pages.kinematics import kinematics
from elastogen.build.pages.play import play_page
from elastogen.build.pages.skeleton import skeleton
from elastogen.build.pages.view import view_page
from elastogen.build.pages.view_server import POLICY, ViewServer
from elastogen.command_line import main

HOSTILE = "</script><script>window.hacked=1</script>"
in_browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: apt-get install chromium")
# The middle of the pixels of the tip's marker, which no other part has the colour of; the pixel where the camera says it is.
TIP = """(() => {
  const { viewer } = window.poser, { width, height } = viewer.canvas, ratio = width / viewer.width;
  const data = viewer.context.getImageData(0, 0, width, height).data, nodes = window.poser.nodes(window.poser.q);
  let [x, y, n] = [0, 0, 0];
  for (let k = 0; k < data.length; k += 4) {
    if (data[k] > 120 && data[k] > 1.7 * data[k + 1] && data[k + 2] < 0.55 * data[k + 1] + 25) {
      x += (k / 4) % width; y += Math.floor(k / 4 / width); n += 1;
    }
  }
  const colors = new Set();
  for (let k = 0; k < data.length; k += 4) colors.add(data[k] * 65536 + data[k + 1] * 256 + data[k + 2]);
  const seen = viewer.project(...nodes.subarray(3 * viewer.scene.tip, 3 * viewer.scene.tip + 3));
  const m = viewer.camera.matrixWorldInverse.elements, p = viewer.camera.projectionMatrix.elements;
  return { n, x: x / n / ratio, y: y / n / ratio, seen, colors: colors.size, width: viewer.width, height: viewer.height,
    view: Array.from(m), projection: Array.from(p), page: document.documentElement.scrollWidth };
})()"""


def quiet_load(name: str) -> elastogen.Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", elastogen.RobotWarning)
        return elastogen.load(name)


@pytest.mark.skipif(not shutil.which("node"), reason="no node to run JavaScript in")
@pytest.mark.parametrize("name", ["puma560", "par_table3"])
def test_kinematics_of_the_page_is_that_of_the_model(name: str, tmp_path: Path, cache_dir: Path) -> None:
    drawing = skeleton(quiet_load(name))
    model = elastogen.build_model(drawing.robot, outputs=["point_positions"])
    q = np.linspace(0.4, -0.3, model.nq)
    (tmp_path / "run.js").write_text(f"console.log(JSON.stringify(Array.from(({kinematics(drawing)})({json.dumps(list(q))}))))")
    done = subprocess.run(["node", "run.js"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == pytest.approx(np.ravel(model.point_positions(q)), rel=1e-12, abs=1e-14)


def test_what_slides_along_beams_is_recorded(cache_dir: Path) -> None:
    assert kinematics(skeleton(quiet_load("rpb_table3"))) == ""
    assert "new Player(document" in view_page(quiet_load("rpb_table3"))


@in_browser
def test_the_arm_is_where_kinematics_says(tmp_path: Path, arm: elastogen.Model) -> None:
    """The orange tip of two links of 1 m, at angles that sliders set, through the camera's matrices by our own arithmetic."""
    page = tmp_path / "view.html"
    page.write_text(view_page(quiet_load("two_link")), encoding="utf-8")
    assert page.stat().st_size < 2_000_000
    with Browser(tmp_path / "profile") as browser:
        for width, phone in ((1200, False), (390, True)):
            browser.open(page, width=width, phone=phone)
            for joint, angle in ((0, 0.6), (1, -0.9)):
                slider = f"document.querySelector('input[data-joint=\"{joint}\"]')"
                browser.ask(f"{slider}.value = {angle}, {slider}.dispatchEvent(new Event('input'))")
            found = browser.ask(TIP)
            assert not browser.errors
            assert found["page"] <= width
            assert found["colors"] > 100  # light and shadow
            tip = np.array([np.cos(0.6) + np.cos(-0.3), np.sin(0.6) + np.sin(-0.3), 0.0, 1.0])
            view, projection = (np.array(found[key]).reshape(4, 4).T for key in ("view", "projection"))
            x, y, _, w = projection @ view @ tip
            expected = [(1 + x / w) / 2 * found["width"], (1 - y / w) / 2 * found["height"]]
            assert found["seen"][:2] == pytest.approx(expected, abs=0.01)
            assert found["n"] > 5
            assert [found["x"], found["y"]] == pytest.approx(expected, abs=6)  # half of the marker may be hidden
            assert {address.partition(":")[0] for address in browser.requests} <= {"file", "data", "blob"}


@in_browser
def test_a_hand_pulls_a_link(tmp_path: Path, cache_dir: Path) -> None:
    """With the drives led by hand, a pointer that holds the tip and moves brings it along; the spring is in the robot's C."""
    pytest.importorskip("ziglang", reason="no ziglang: pip install 'elastogen[play]'")
    page = tmp_path / "play.html"
    page.write_text(play_page(quiet_load("two_link")), encoding="utf-8")
    with Browser(tmp_path / "profile") as browser:
        browser.open(page)
        browser.wait_for("window.playground")
        found = browser.ask("""(() => {
          const p = window.playground, { viewer } = p, tip = viewer.scene.tip;
          p.running = false;  // what follows does not depend on the clock
          const law = p.find("law");
          law.value = [...law.options].find((option) => option.text.includes("led by hand")).value;
          law.dispatchEvent(new Event("change"));
          p.draw();
          const box = viewer.canvas.getBoundingClientRect(), [x, y] = viewer.project(...p.place(tip).toArray());
          const event = (type, dx, dy) => viewer.canvas.dispatchEvent(new PointerEvent(type, {
            pointerId: 1, button: 0, bubbles: true, clientX: box.left + x + dx, clientY: box.top + y + dy }));
          viewer.canvas.setPointerCapture = () => {};  // the pointer is not real
          const start = p.place(tip).toArray();
          event("pointerdown", 0, 0);
          const held = p.hand !== null;
          event("pointermove", 0, 60);
          const target = p.hand.target.toArray(), force = p.pull().text;
          for (let k = 0; k < 12; k++) { p.pull(); p.advance(1 / 24); p.draw(); }
          const end = p.place(tip).toArray();
          event("pointerup", 0, 60);
          const released = p.hand === null && p.array("hand_spring", 8)[0] === -1;
          return { held, start, target, end, force, failed: p.failed, released,
            laws: [...law.options].map((option) => option.text) };
        })()""")
        assert not browser.errors
    assert found["held"]
    assert found["released"]
    assert found["failed"] == 0
    assert found["force"].endswith(" N")
    assert "computed torque" in found["laws"]
    start, target, end = (np.array(found[key]) for key in ("start", "target", "end"))
    assert np.linalg.norm(target - start) > 0.05
    assert (end - start) @ (target - start) > 0.2 * np.sum((target - start) ** 2)


RECORD = """(async () => {
  const part = document.querySelector("section.player"), choice = part.querySelector("[data-role=record]"), made = [];
  window.save = async (blob, name) => made.push([name, Array.from(new Uint8Array(await blob.arrayBuffer()))]);
  for (const kind of ["png", "webm"]) {
    const before = made.length;
    choice.value = kind;
    choice.dispatchEvent(new Event("change"));
    while (made.length === before) await new Promise((done) => setTimeout(done, 20));
  }
  return made;
})()"""
FILM = """(bytes) => new Promise((done, failed) => {
  const film = document.createElement("video");
  film.requestVideoFrameCallback(() => {
    const canvas = Object.assign(document.createElement("canvas"), { width: film.videoWidth, height: film.videoHeight });
    const seen = canvas.getContext("2d");
    seen.drawImage(film, 0, 0);
    done(new Set(seen.getImageData(0, 0, canvas.width, canvas.height).data).size);
  });
  film.onerror = () => failed(new Error(film.error.message));
  film.src = URL.createObjectURL(new Blob([new Uint8Array(bytes)], { type: "video/webm" }));
  film.muted = true;
  film.play();
})"""


@in_browser
def test_motions_are_recorded_as_pictures_and_as_a_film(tmp_path: Path, arm: elastogen.Model) -> None:
    """A film of half a second had no picture at all: the encoder was not ready."""
    page = arm.simulate([0.3, 0.1], t=0.2, samples=5).animate(tmp_path / "a.html")
    with Browser(tmp_path / "profile") as browser:
        browser.open(page, width=500, height=400)
        browser.ask("document.querySelector('[data-role=speed]').value = '1'")
        (archive, pictures), (film, video) = browser.ask(RECORD)
        assert not browser.errors
        assert browser.ask(f"({FILM})({video})") > 20  # colours of the first picture
    assert (archive.endswith("_pictures.zip"), film.endswith(".webm")) == (True, True)
    with zipfile.ZipFile(io.BytesIO(bytes(pictures))) as files:
        assert files.testzip() is None
        assert len(files.namelist()) == 6  # 25 a second, and the last
        shown = [files.read(name) for name in files.namelist()]
    assert all(one.startswith(b"\x89PNG") for one in shown)
    assert len(set(shown)) == 6  # it moves


@in_browser
def test_names_in_a_robot_file_stay_text(tmp_path: Path, arm: elastogen.Model) -> None:
    motion = arm.simulate([0.3, 0.1], t=0.1, samples=3)
    page = motion.animate(tmp_path / "a.html", title=HOSTILE, beside={HOSTILE: motion})
    with Browser(tmp_path / "profile") as browser:
        browser.open(page)
        assert browser.ask("window.hacked") is None
        assert browser.ask("document.title") == HOSTILE
        assert not browser.errors


def test_pages_are_the_same_every_time(cache_dir: Path) -> None:
    assert view_page(quiet_load("two_link")) == view_page(quiet_load("two_link"))


def test_notebooks_show_robots_to_move(cache_dir: Path) -> None:
    shown = quiet_load("two_link").show()
    assert "new Poser(" in shown.page
    assert shown._repr_html_().startswith('<iframe sandbox="allow-scripts allow-downloads" srcdoc="&lt;!DOCTYPE html&gt;')
    assert len(repr(shown)) < 50


def test_motions_of_other_robots_are_refused(tmp_path: Path, arm: elastogen.Model) -> None:
    motion = arm.simulate([0.3, 0.1], t=0.1, samples=3)
    with pytest.raises(elastogen.ModelError, match=r"coordinates elbow_2, .*expected some of shoulder, elbow"):
        motion.animate(tmp_path / "a.html", beside={"other": elastogen_motion(motion)})


def elastogen_motion(motion: elastogen.Simulation) -> elastogen.Simulation:
    from dataclasses import replace

    return replace(motion, coordinate_names=("elbow_2", "elbow_3"))


@pytest.fixture
def served(tmp_path: Path) -> Iterator[ViewServer]:
    file = tmp_path / "robot.txt"
    file.write_text("first")

    def make() -> str:
        text = file.read_text()
        if text == "bad":
            raise elastogen.BuildError("robot.txt: got <bad>")
        return f"<body>{text}</body>"

    with ViewServer(make, file) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def ask(server: ViewServer, path: str, host: str = "") -> tuple[int, str, str]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    connection.request("GET", path, headers={"Host": host or f"127.0.0.1:{server.server_port}"})
    answer = connection.getresponse()
    found = answer.status, answer.read().decode(), answer.headers.get("Content-Security-Policy", "")
    connection.close()
    return found


def test_the_server_makes_a_page_again_when_the_file_is_saved(served: ViewServer) -> None:
    assert served.watched is not None
    here = f"/{served.token}/"
    status, page, policy = ask(served, here)
    assert (status, policy) == (200, POLICY)
    assert page.startswith("<body>first<script>")
    before = ask(served, here + "version")[1]
    assert f'version === "{before}"' in page
    served.watched.write_text("second, longer")
    assert ask(served, here + "version")[1] != before
    assert "second, longer" in ask(served, here)[1]
    served.watched.write_text("bad")
    assert "robot.txt: got &lt;bad&gt;" in ask(served, here)[1]


def test_the_server_answers_this_machine_and_its_token_alone(served: ViewServer) -> None:
    assert served.server_address[0] == "127.0.0.1"
    assert ask(served, "/")[0] == 404
    assert ask(served, "/guess/")[0] == 404
    assert ask(served, f"/{served.token}/../secret")[0] == 404
    assert ask(served, f"/{served.token}")[0] == 404  # the page would look for its version elsewhere, and load without end
    assert ask(served, f"/{served.token}/", host="evil.example")[0] == 404
    assert ask(served, f"/{served.token}/", host=f"localhost:{served.server_port}")[0] == 200


@in_browser
def test_a_saved_file_is_drawn_again(tmp_path: Path, cache_dir: Path) -> None:
    """In a browser, under the server's own policy: the page draws, follows the file, and shows what is wrong with it."""
    file = tmp_path / "arm.yaml"
    text = (Path(elastogen.__file__).parents[1] / "generator/description/robots/two_link.yaml").read_text()
    file.write_text(text)
    sliders = "[...document.querySelectorAll('.panels span')].map((one) => one.textContent)"
    with ViewServer(lambda: view_page(quiet_load(str(file))), file) as server, Browser(tmp_path / "profile") as browser:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        browser.open(server.address)
        assert browser.ask(TIP)["n"] > 5
        assert browser.ask(sliders) == ["shoulder", "elbow"]
        file.write_text(text.replace("name: elbow", "name: knee"))
        browser.wait_for(f"{sliders}[1] === 'knee'")
        file.write_text(text.replace("mass: m2", "mass: -1"))
        browser.wait_for("document.querySelector('[role=alert]')")
        assert "expected" in browser.ask("document.querySelector('[role=alert]').textContent")
        file.write_text(text)
        browser.wait_for(f"{sliders}[1] === 'elbow'")
        assert not browser.errors
        server.shutdown()
        thread.join()


def test_view_says_what_is_wrong_with_a_robot(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["view", "no_such_robot", "--no-browser"]) == 2
    assert "no_such_robot" in capsys.readouterr().err
