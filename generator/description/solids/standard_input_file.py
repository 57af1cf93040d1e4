"""Links whose integrals another program computed (SID): the file's nodes hold the joints, and its data become the body's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from elastogen.generator.beams.natural_frequencies import numeric
from elastogen.generator.description.files import Files
from elastogen.generator.description.section_values import SectionValues
from elastogen.generator.description.solids.geometry_file import MOST_BYTES, beside
from elastogen.generator.description.solids.mesh_file import MeshSection
from elastogen.generator.robot.bodies.flexible_body import FlexibleBody
from elastogen.generator.robot.location import Location
from elastogen.generator.solids.given.matrices import UNITS
from elastogen.generator.solids.given.standard_input import StandardInput, read_standard_input
from elastogen.generator.solids.given.standard_numbers import AGREE, integrals
from elastogen.generator.solids.interfaces import Wanted
from elastogen.generator.solids.reduced_body import reduced_body
from elastogen.generator.solids.solid import Array
from elastogen.generator.solids.surfaces import check_size

ENDINGS = ("sid_fem", "sid", "txt")
NEAR = 0.01  # of the distance between the outermost nodes: so near to a joint must the node be that nobody names
HELD = 1e-9  # relative: a node that moves by less is held


def standard_body(
    section: MeshSection,
    clamp: Wanted,
    seats: Sequence[Wanted],
    values: SectionValues,
    folder: Path,
    files: Files,
    where: Location,
) -> FlexibleBody:
    """The body of a SID file, with an interface for every seat."""
    given = section.standard_input
    assert given is not None
    here = where.at("standard_input")
    path = beside(folder, given.file, here.at("file"), ENDINGS)
    length, mass, _ = UNITS[given.units]
    pose = numeric(values.frame(section.frame, where.at("frame")), {})
    try:
        data = read_standard_input(files.read(path, MOST_BYTES).decode("utf-8", "replace"))
        places = {number: pose[:3, :3] @ (node.origin * length) + pose[:3, 3] for number, node in data.nodes.items()}
        check_size(np.array(list(places.values())), here.at("file"))
        held = _node(clamp, places)
        found = integrals(data, length, mass, pose, held if _moves(data, held) else None)
    except ValueError as problem:
        raise here.at("file").error(str(problem)[:250], "consistent standard input data (SID)", "export it again") from None
    if found.alone > AGREE:
        here.at("file").warn(
            f"centrifugal forces (Oe) that differ by {found.alone:.2g} from what the masses (Me) give",
            "first-order parts in Ct, Cr or phi as well, where geometric stiffness is meant",
            "it is taken for geometric stiffness; export the file again if none was wanted",
        )
    motions = {seat.name: found.motion(_node(seat, places), seat.place) for seat in seats}
    origins = {seat.name: seat.place for seat in seats}
    body = reduced_body(found.numbers, found.stiffness, origins, motions, seats[-1].name, section.rotation)
    damping = tuple(tuple(float(entry) for entry in row) for row in found.damping)
    return replace(body, damping=damping, units=())


def _moves(data: StandardInput, number: int) -> bool:
    """Whether the node of the link's own joint moves with the modes, so that the body is to be clamped there."""
    node = data.nodes[number]
    largest = max(max(np.abs(one.phi.zeroth).max(), np.abs(one.psi).max()) for one in data.nodes.values())
    moved = max(np.abs(node.phi.zeroth).max(), np.abs(node.psi).max(), np.abs(node.phi.first).max())
    return bool(moved > HELD * largest)


def _node(wanted: Wanted, places: dict[int, Array]) -> int:
    """The node of the file that holds a joint: the one that is named, or the one at its place."""
    number, distance = min(
        ((number, float(np.linalg.norm(place - wanted.place))) for number, place in places.items()), key=lambda one: one[1]
    )
    if wanted.given is None:
        size = float(np.linalg.norm(np.ptp(np.array(list(places.values())), axis=0)))
        if distance > NEAR * size:
            shown = ", ".join(f"{x:.4g}" for x in places[number])
            raise wanted.where.error(
                f"no node of the file at [{', '.join(f'{x:.4g}' for x in wanted.place)}] m",
                f"one within {NEAR * size:.3g} m: the nearest is node {number} at [{shown}] m",
                f"name the node that holds it: {{nodes: [{number}]}}, or check units and frame",
            )
        return number
    ((form, numbers),) = wanted.given.items()
    if form != "nodes" or len(numbers) != 1:
        raise wanted.where.error(form, "one node of the file", f"say nodes: [{number}]")
    chosen = int(numbers[0])
    if chosen not in places:
        known = ", ".join(str(each) for each in list(places)[:20])
        raise wanted.where.at("nodes").error(chosen, f"a node of the file ({known})", "take its number there")
    return chosen
