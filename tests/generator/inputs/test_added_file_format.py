"""The recipe of a file format in docs/architecture.md: one module and one entry."""

import numpy as np
import pytest
from added_kinds.arm_list import FORMAT

import elastogen
from elastogen.generator.description.formats import registry

TEXT = "upper 0.5 2.0\nlower 0.4 1.0\n"


@pytest.fixture
def arm(monkeypatch, tmp_path):
    monkeypatch.setattr(registry, "FILE_FORMATS", [*registry.FILE_FORMATS, FORMAT])
    path = tmp_path / "two_bars.arm"
    path.write_text(TEXT)
    return path


def test_added_file_format_is_read(arm):
    robot = elastogen.load(arm)
    assert robot.name == "two_bars"
    model = elastogen.build_model(arm, outputs=["gravity_vector"])
    q = np.array([0.3, 0.4])
    along, both = np.cos(q[0]), np.cos(q.sum())
    lower = 1.0 * 0.2 * both
    expected = -9.81 * np.array([2.0 * 0.25 * along + 1.0 * 0.5 * along + lower, lower])
    np.testing.assert_allclose(model.gravity_vector(q), expected, rtol=1e-14)


def test_added_file_format_is_named_in_messages(arm, tmp_path):
    with pytest.raises(elastogen.RobotError, match=r"MJCF \.xml or \.arm file"):
        elastogen.load(tmp_path)


@pytest.mark.parametrize(("option", "given"), [("model", "other"), ("arguments", {"a": "1"})])
def test_options_of_other_formats_are_refused(arm, option, given):
    with pytest.raises(elastogen.RobotError, match=option):
        elastogen.load(arm, **{option: given})


def test_ending_without_a_format_is_refused(tmp_path):
    path = tmp_path / "two_bars.arm"
    path.write_text(TEXT)
    with pytest.raises(elastogen.RobotError, match=r"MJCF \.xml file, by its ending"):
        elastogen.load(path)
