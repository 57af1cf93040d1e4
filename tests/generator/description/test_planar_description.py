"""Descriptions of planar robots and of sliding joints: the built-in ones, and what is refused."""

import pytest

import elastogen


def test_built_in_robots():
    par, rpb, experiment = (elastogen.load(name) for name in ("par_table3", "rpb_table3", "par_experiment"))
    assert len(par.coordinates) == 8
    assert par.links[-1].flexible.stiffness[0][0] == pytest.approx(24 * 1.8 / (0.8 / 3) ** 3)
    assert len(rpb.coordinates) == 12
    assert pytest.approx(0.1688) == rpb.links[-1].flexible.telescope.EI
    assert experiment.links[-1].flexible.mass == pytest.approx(0.3 * 0.157)


FLEXIBLE = {"length": 1, "mass_per_length": 1, "EI": 1, "elements": 2}


@pytest.mark.parametrize(("links", "message"), [
    ([{"joint": "Q", "length": 1, "rigid": True}], r"planar\.links\[0\].*a joint R, Pa, Pb"),
    ([{"joint": "R", "rigid": True}], "length of the link"),
    ([{"joint": "Pa", **FLEXIBLE}], "angle gamma of a Pa joint"),
    ([{"joint": "Pb", "gamma": 0, **FLEXIBLE, "elements": 1}], "2 to 200 elements on a telescopic joint"),
    ([{"joint": "R", **FLEXIBLE, "elements": 0}], "1 to 200 elements"),
    ([{"joint": "R", **FLEXIBLE, "elements": 201}], "1 to 200 elements"),
    ([{"joint": "R", "length": 1, "EI": 1, "elements": 2}], "mass_per_length of a flexible link"),
    ([{"joint": "R", "rigid": True, **FLEXIBLE}], "no mass_per_length for a rigid link"),
    ([{"joint": "R", "gamma": 1, **FLEXIBLE}], "no gamma"),
    ([{"joint": "R", **FLEXIBLE, "length": -1}], "length above zero"),
])  # fmt: skip
def test_bad_planar_robots(links, message):
    with pytest.raises(elastogen.RobotError, match=message):
        elastogen.load({"elastogen": 1, "name": "bad", "planar": {"links": links}})


@pytest.mark.parametrize(("joint", "message"), [
    ({"type": "sliding"}, "gamma of a sliding joint"),
    ({"type": "sliding", "gamma": 0}, "a flexible beam that bends in y only"),
    ({"type": "telescopic", "gamma": 0}, "a link with flexible"),
    ({"type": "revolute", "gamma": 0}, "no \\w+ for a revolute joint; .*sliding, telescopic joints take it"),
    ({"type": "telescopic", "gamma": 0, "axis": [1, 0, 0]}, "no axis"),
])  # fmt: skip
def test_bad_joints(joint, message):
    file = {"elastogen": 1, "name": "bad", "links": [{"name": "a", "mass": 1}, {"name": "b", "mass": 1}]}
    file["joints"] = [{"name": "first", "type": "revolute"}, {"name": "second", **joint}]
    with pytest.raises(elastogen.RobotError, match=message):
        elastogen.load(file)


def test_drives_of_a_planar_robot():
    """Limits, motor and friction are those of the joint, revolute, sliding or telescopic."""
    drive = {
        "motor": {"inertia": 2e-5, "gear_ratio": 30},
        "friction": {"viscous": 0.01, "coulomb": 0.2},
        "limits": {"effort": 4},
    }
    beam = {"length": 0.8, "mass_per_length": 0.35, "EI": 0.17, "elements": 2}
    links = [{"joint": joint, **({} if joint == "R" else {"gamma": 0.1}), **beam, **drive} for joint in ("R", "Pa", "Pb")]
    robot = elastogen.load({"elastogen": 1, "name": "driven", "planar": {"links": links}})
    for joint in robot.joints:
        assert (joint.actuation.motor_inertia, joint.actuation.gear_ratio) == (2e-5, 30)
        assert (joint.actuation.viscous, joint.actuation.coulomb, joint.limits.effort) == (0.01, 0.2, 4)
    links[1]["motor"] = {"inertia": -1}
    with pytest.raises(elastogen.RobotError, match=r"joint2\.motor\.inertia"):
        elastogen.load({"elastogen": 1, "name": "driven", "planar": {"links": links}})
