"""Links by meshes on pages: from nodes of the drawing to every corner of the surface, in a browser; tables of a report."""

import json

import numpy as np
import pytest
from browser import CHROMIUM, Browser
from mesh_arms import PLACES, described, solid, written

import elastogen
from elastogen.build.pages.elastic_skins import elastic_skin
from elastogen.build.pages.report.solid_sections import solids
from elastogen.build.pages.report.subject import Subject
from elastogen.build.pages.skeleton import skeleton
from elastogen.build.pages.view import view_page

pytest.importorskip("skfem", reason="scikit-fem is not installed: pip install 'elastogen[mesh]'")
pytest.importorskip("netgen", reason="netgen-mesher is not installed: pip install 'elastogen[mesh]'")

ASKED = """((nodes) => {
  const skin = window.poser.viewer.robot.elastic[0], at = RobotSolids.places(Float64Array.from(nodes));
  skin.show(at, { at, largest: skin.largest(at) });
  return { x: Array.from(skin.state(at).x), frame: skin.mesh.matrix.elements, vertices: Array.from(skin.places.array),
    largest: skin.largest(at), triangles: skin.skin.triangles.length / 3 };
})(NODES)"""


@pytest.fixture(scope="module", params=["rigid", "average"])
def arm(request, tmp_path_factory):
    """An arm whose hub holds its nodes, or their mean."""
    place = tmp_path_factory.mktemp("skins")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ELASTOGEN_CACHE_DIR", str(place / "cache"))
        solid().export(place / "box.stl")
        yield written(place, described(interfaces={**PLACES, "hub": {**PLACES["hub"], "kind": request.param}}))


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: apt-get install chromium")
def test_a_page_bends_the_surface_as_the_finite_elements_do(arm, tmp_path):
    """The page knows only where nodes are; here the surface moves by the elastic coordinates, and turns with the hub."""
    drawing, surface = skeleton(arm), arm.link("arm").flexible.solid.drawn
    model = elastogen.build_model(drawing.robot, outputs=["point_positions"])
    x = np.array([2e-3, -1e-3, 5e-4])
    nodes = model.point_positions([0.7, *x, 0.3])
    (tmp_path / "view.html").write_text(view_page(arm), encoding="utf-8")
    with Browser(tmp_path / "profile") as browser:
        browser.open(tmp_path / "view.html")
        browser.wait_for("window.poser")
        found = browser.ask(ASKED.replace("NODES", json.dumps(nodes.ravel().tolist())))
        assert not browser.errors
    np.testing.assert_allclose(found["x"], x, atol=2e-8)  # places are 32-bit numbers
    turn = np.array([[np.cos(0.7), -np.sin(0.7), 0], [np.sin(0.7), np.cos(0.7), 0], [0, 0, 1]])
    frame, vertices = np.array(found["frame"]).reshape(4, 4).T, np.array(found["vertices"]).reshape(-1, 3)
    drawn = vertices @ frame[:3, :3].T + frame[:3, 3]
    np.testing.assert_allclose(drawn, surface.moved(x) @ turn.T, atol=2e-7)
    assert found["largest"] == pytest.approx(surface.equivalent_strains(x).max(), rel=1e-4)
    assert found["triangles"] == len(surface.triangles) <= 3000


def test_no_rod_hides_the_solid(arm):
    """A rod from the hub to the next joint covered what bends and shows its strains."""
    drawing = skeleton(arm)
    starts = [drawing.robot.points[line.nodes[0]] for line in drawing.lines if line.kind == "rigid"]
    assert not any(point.link == "arm" for point in starts)


def test_few_nodes_tell_all_coordinates(arm):
    skin = elastic_skin(arm.link("arm").flexible.solid)
    bent = skin.shapes[3:].reshape(-1, 3)
    assert len(skin.places) == 3 + 3 + 2
    assert np.linalg.cond(bent) < 50
    a, b, c = skin.places[:3]
    assert np.linalg.norm(np.cross(b - a, c - a)) > 1e-4  # not on a line: the hub's face is 0.03 x 0.02 m


def test_a_report_has_the_numbers_of_the_solid(arm):
    """Frequencies, reduced and of all elements, with what the link carries."""
    html = "".join(solids(Subject(arm)).html)
    report = arm.link("arm").flexible.solid.report
    for kept, full in zip(report["frequencies"], report["full"], strict=True):
        assert f"{kept:.6g}" in html
        assert f"{full:.6g}" in html
    assert report["interfaces"]["elbow"] in html
    assert solids(Subject(elastogen.load("two_link"))) is None
