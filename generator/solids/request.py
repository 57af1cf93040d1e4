"""What a link by a mesh is made from, and what is found: from a file's bytes to the reduced solid, kept by its hash."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from elastogen.generator.robot.location import Location
from elastogen.generator.solids import kept
from elastogen.generator.solids.drawn_surface import MOST_TRIANGLES, DrawnSurface, drawn_surface
from elastogen.generator.solids.geometry import Geometry
from elastogen.generator.solids.given.matrices import Matrices
from elastogen.generator.solids.given.results import GivenResults, GivenShapes
from elastogen.generator.solids.interfaces import Wanted, held
from elastogen.generator.solids.materials import Material
from elastogen.generator.solids.reduced_body import integrals
from elastogen.generator.solids.reduction import MOST_MODES, Reduced, reduced
from elastogen.generator.solids.solid import Array, Elements, Indices, Solid, quadratic_elements
from elastogen.generator.stages import stage

FORMAT = 1  # raised where the same request gives other numbers
FIRST_COUNT = 400  # elements of the first mesh, where no size is given
ACROSS = 0.4  # first elements at round interfaces, by their radius
CONVERGED = 0.01  # relative change of the kept frequencies from one size to half of it
_ARRAYS = ("stiffness", "nodes", "tetrahedra", "surface", "shapes", "second", "numbers")  # of Found
MOST_ELEMENTS = 20_000  # of a mesh that is made without being asked for
MOST_ASKED_FOR = 500_000  # by a size; a number of elements has the same limit in the file


@dataclass(frozen=True)
class Request:
    """A solid, its material and interfaces, and what is wanted of it."""

    geometry: Geometry | Matrices | GivenResults
    material: Material | None  # None: in the matrices
    mass: float | None  # [kg] that the solid is scaled to
    size: float | None  # of the elements [m]
    count: int | None  # of elements, roughly
    clamp: Wanted
    seats: tuple[Wanted, ...]
    loads: Mapping[str, Array]  # 6 x 6 by interface, in the axes of the link
    modes: int | None
    below: float | None  # [Hz]
    where: Location
    shortened: bool = False  # whether foreshortening is wanted
    cells: Geometry | None = None  # the elements of given matrices, where they are known

    @property
    def refines(self) -> bool:
        """Whether sizes are halved until the frequencies stay."""
        meshes = isinstance(self.geometry, Geometry) and not self.geometry.is_mesh
        return meshes and self.size is None and self.count is None

    def others(self, wanted: Wanted) -> Array:
        """Origins of the other interfaces [m]."""
        found = [other.place for other in (self.clamp, *self.seats) if other.name != wanted.name]
        return np.array(found).reshape(-1, 3)

    @property
    def key(self) -> str:
        """A sum over everything that shapes the result, the programs that compute it included."""
        parts = {
            "format": FORMAT, "code": _code(), "versions": kept.versions(), "geometry": self.geometry.plain,
            "material": None if self.material is None else [self.material.E, self.material.nu, self.material.density],
            "mass": self.mass,
            "size": [self.size, self.count], "modes": [self.modes, self.below],
            "interfaces": [
                [w.name, w.place.tolist(), None if w.axis is None else w.axis.tolist(), w.given, w.averaging]
                for w in (self.clamp, *self.seats)
            ],
            "shortened": self.shortened,
            "loads": {name: load.tolist() for name, load in self.loads.items()},
        }  # fmt: skip
        data = self.geometry.data
        if self.cells is not None:
            parts, data = {**parts, "cells": [*self.cells.plain, len(data)]}, data + self.cells.data
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode() + data).hexdigest()


@dataclass(frozen=True)
class Found:
    """The reduced solid in numbers, and a report about it."""

    integrals: dict[str, Array]
    stiffness: Array
    motions: dict[str, Array]
    nodes: Array  # (n, 3) [m] in the link frame
    tetrahedra: Indices  # (t, 10)
    surface: Indices  # (m, 6)
    shapes: Array  # (n, 3, k)
    second: Array  # (n, 3, p) by products of coordinates, where foreshortening is wanted
    numbers: Indices  # of the first nodes in the file, from 1
    report: dict[str, Any]

    @cached_property
    def drawn(self) -> DrawnSurface | None:
        """Its surface for drawings, in at most 3000 triangles; None of matrices, which have no surface."""
        if not len(self.surface):
            return None
        return drawn_surface(self.nodes, self.tetrahedra, self.surface, self.shapes, MOST_TRIANGLES)

    def with_material(self, material: Material) -> Found:
        """With its elements and their material in the report."""
        more = {"elements": len(self.tetrahedra), "density": material.density, "E": material.E, "nu": material.nu}
        return replace(self, report={**more, **self.report})

    @property
    def digest(self) -> str:
        """A sum over nodes, elements and shapes: points on the solid follow from these."""
        arrays = (np.ascontiguousarray(array) for array in (self.nodes, self.tetrahedra, self.shapes, self.second))
        return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()


def find(request: Request) -> Found:
    """The result: kept from before, or computed."""
    key = request.key
    known = kept.read(key)
    found = _compute(request) if known is None else _unpacked(known)
    if known is None:
        kept.write(key, _packed(found))
    if request.refines:
        _check_settled(request, found.report)
    return found


def _check_settled(request: Request, report: Mapping[str, Any]) -> None:
    """Warn where the frequencies were still moving when there were elements enough."""
    ahead, count = report["ahead"], report["elements"]
    if ahead is not None and max(ahead, report["moved"]) < CONVERGED:
        return
    wanted = MOST_ASKED_FOR + 1 if ahead is None else max(count * (ahead / CONVERGED) ** 3, count + 1)
    more = f"give elements: {float(f'{wanted:.1e}'):.0f}" if wanted <= MOST_ASKED_FOR else "hold its places by kind: average"
    request.where.at("size").warn(
        f"{count} elements: frequencies {report['settling'] or 'unknown'}",
        f"less than {CONVERGED:.0%}",
        f"{more}, for less; elements: {count} says that these are enough",
    )


def _code() -> str:
    """A sum over the modules of this folder and those in it."""
    total = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        total.update(path.read_bytes())
    return total.hexdigest()


def _compute(request: Request) -> Found:
    if isinstance(request.geometry, Matrices):
        elements, material = request.geometry.elements(), request.material
        if request.cells is not None:
            assert material is not None  # of stresses
            elements = request.geometry.on_tetrahedra(elements, request.cells.meshed(0.0, request.where), material)
        if request.mass is not None:
            elements = replace(elements, mass=elements.mass * (request.mass / elements.mass.sum()))
        found = _of_elements(request, elements, exact=True).found
        return found if material is None else found.with_material(material)
    if isinstance(request.geometry, GivenResults):
        return _of_results(request, request.geometry)
    if not request.geometry.is_mesh:
        _check_size(request, request.geometry)
    free = request.refines
    size = request.size or request.geometry.size_for(request.count or FIRST_COUNT)
    solid, settling = _meshed(request, size, 1.0), _Settling()
    result, first = _reduced(request, solid, exact=not free), size
    while free:
        settling.add(len(solid.tetrahedra), result.solid.frequencies)
        if settling.done:
            break
        finer, finer_size = _meshed(request, size / 2, size / 2 / first), size / 2
        free = len(finer.tetrahedra) <= MOST_ELEMENTS
        if not free and 2 * len(solid.tetrahedra) > MOST_ELEMENTS:  # what may be added tells little more
            break
        if not free:  # the last one: as fine as may be
            finer_size = _size_of_most(size, len(solid.tetrahedra), len(finer.tetrahedra))
            finer = _meshed(request, finer_size, finer_size / first)
            if not len(solid.tetrahedra) < len(finer.tetrahedra) <= MOST_ELEMENTS:
                break
        solid, size = finer, finer_size
        result = _reduced(request, solid, exact=True)
        if not free:
            settling.add(len(solid.tetrahedra), result.solid.frequencies)
    if not len(result.solid.full):
        result = _reduced(request, solid, exact=True)
    return replace(result.found, report={**result.found.report, "size": size, **settling.report, "flattest": solid.smallest})


def _size_of_most(size: float, count: int, at_half: int) -> float:
    """The size of nearly as many elements as may be, by the numbers at a size and at half of it."""
    steps = np.log(0.9 * MOST_ELEMENTS / count) / np.log(max(at_half / count, 2.0))
    return float(size * 0.5 ** max(steps, 0.0))


class _Settling:
    """How frequencies move from mesh to mesh, and how far they are expected to move at half the size.

    Sizes are judged by the numbers of elements: where the geometry has small faces, half of what was asked for changes little.
    What is ahead takes errors that go with the size, as at the edge of a rigid place in a face, where stresses grow with
    r^-1/2; elsewhere they go faster. From size h to h / c moved, moved / (c - 1) is left, and half the size takes half of it.
    """

    def __init__(self) -> None:
        self._known: list[tuple[int, Array]] = []
        self.report: dict[str, Any] = dict.fromkeys(("coarser", "moved", "ahead", "settling"))

    def add(self, count: int, frequencies: Array) -> None:
        """The next mesh, by its number of elements; against the latest of about twice its size, or the coarsest."""
        self._known.append((count, frequencies))
        coarsest = min(self._known, key=lambda known: known[0])
        coarser, before = next((known for known in reversed(self._known) if 5 * known[0] <= count), coarsest)
        if coarser == count:
            self.report = dict.fromkeys(self.report)
            return
        common = min(len(before), len(frequencies))
        moved = float(np.max(np.abs(before[:common] / frequencies[:common] - 1)))
        ahead = moved / (2 * ((count / coarser) ** (1 / 3) - 1))
        said = f"moved by {moved:.2%} since {coarser} elements, by {ahead:.2%} expected at half the size"
        self.report = {"coarser": coarser, "moved": moved, "ahead": ahead, "settling": said}

    @property
    def done(self) -> bool:
        """Whether the frequencies stay."""
        moved, ahead = self.report["moved"], self.report["ahead"]
        return moved is not None and max(moved, ahead) < CONVERGED


def _of_results(request: Request, given: GivenResults) -> Found:
    material = request.material
    assert material is not None  # of results
    elements = given.elements(material)
    shapes, volume = given.shapes(elements), float(elements.mass.sum()) / material.density
    if request.mass is not None:
        material = replace(material, density=request.mass / volume)
        elements = replace(elements, mass=elements.mass * (request.mass / elements.mass.sum()))
    return _of_elements(request, elements, True, shapes).found.with_material(material)


def _check_size(request: Request, geometry: Geometry) -> None:
    """Refuse elements so small that meshing would not end."""
    least = geometry.size_for(MOST_ASKED_FOR) if request.size is not None else 0.0
    if request.size is not None and request.size < least:
        count = MOST_ASKED_FOR * (least / request.size) ** 3
        raise request.where.at("size").error(
            f"{request.size:g} m, about {count:.2g} elements", f"at most {MOST_ASKED_FOR}", f"give size: {least:.2g} or more"
        )


def _check_stiff(request: Request, elements: Elements, frequencies: Array) -> None:
    """Refuse a solid whose stiffness is lost in rounding."""
    if frequencies[0] > 0:
        return
    thinnest = np.linalg.svd(elements.nodes - elements.nodes.mean(axis=0), compute_uv=False)
    shown = f"{thinnest[-1] / thinnest[0]:.1g} of its length thick, or held by nearly nothing"
    raise request.where.error(
        f"a lowest frequency that rounds to zero: a solid {shown}",
        "a solid that bends as one, held at its own joint",
        f"check its thickness, and the place of interfaces: {{{request.clamp.name}: ...}}; thin beams are type: elements",
    )


def _check_below(request: Request, frequencies: Array) -> None:
    """Refuse a limit [Hz] below which there is nothing, or more than can be kept."""
    if request.below is not None and frequencies[0] > 2 * np.pi * request.below:
        lowest_ = f"a limit above the lowest frequency, {frequencies[0] / (2 * np.pi):.5g} Hz"
        raise request.where.at("frequency").error(request.below, lowest_, "raise it, or keep the link rigid")
    if request.below is not None and len(frequencies) > MOST_MODES:
        most = f"{frequencies[MOST_MODES - 1] / (2 * np.pi):.5g} Hz"
        raise request.where.at("frequency").error(request.below, f"at most {MOST_MODES} modes below it", f"lower it to {most}")


@dataclass(frozen=True)
class _Result:
    found: Found
    solid: Reduced


def _meshed(request: Request, size: float, share: float) -> Solid:
    """In elements of a size; ``share`` of it by the first one. Round interfaces have smaller elements: they hold few nodes."""
    assert isinstance(request.geometry, Geometry)
    with stage("mesh", f"{request.clamp.where.source} elements of {size:.3g} m"):
        near = []
        for wanted in (request.clamp, *request.seats):
            radius = wanted.radius(request.geometry.diagonal, request.others(wanted))
            local = min(size, radius * ACROSS * share)
            if 0 < local < size:
                steps = [np.zeros(3), *(sign * radius * axis for axis in np.eye(3) for sign in (-0.7, 0.7))]
                near += [(*(wanted.place + step), local) for step in steps]
        solid = request.geometry.meshed(size, request.where, near)
    if solid.parts != 1:
        raise request.where.error(f"{solid.parts} parts that do not touch", "one solid", "join them, or export one of them")
    return solid


def _reduced(request: Request, solid: Solid, exact: bool) -> _Result:
    material = request.material
    assert material is not None  # of geometry
    if request.mass is not None:
        material = replace(material, density=request.mass / solid.volume)
    with stage("finite elements", f"{len(solid.tetrahedra)} elements"):
        elements = quadratic_elements(solid, material)
    result = _of_elements(request, elements, exact)
    return replace(result, found=result.found.with_material(material))


def _of_elements(request: Request, elements: Elements, exact: bool, given: GivenShapes | None = None) -> _Result:
    clamp, *seats = (held(wanted, elements, request.others(wanted)) for wanted in (request.clamp, *request.seats))
    if given is not None:  # shapes that know of no rigid interfaces: frames move with the mean of their nodes
        clamp, seats = replace(clamp, averaging=False), [replace(seat, averaging=True) for seat in seats]
        given.check_held(clamp)
    _check_apart(request, [clamp, *seats])
    below = None if request.below is None else 2 * np.pi * request.below
    with stage("modes", f"{3 * len(elements.nodes)} degrees of freedom"):
        material = request.material if request.shortened else None
        result = reduced(elements, clamp, seats, request.loads, request.modes, below, exact, material, given)
    _check_stiff(request, elements, result.frequencies)
    _check_below(request, result.frequencies)
    numbers = integrals(elements, result.shapes, result.second)
    report = {
        "freedoms": 3 * len(elements.nodes),
        "mass": float(numbers["mass"]),
        "frequencies": (result.frequencies / (2 * np.pi)).tolist(),
        "full": (result.full / (2 * np.pi)).tolist(),
        "effective_masses": result.effective_masses.tolist(),
        "interfaces": {each.name: each.how for each in (clamp, *seats)},
    }
    found = Found(
        integrals=numbers,
        stiffness=result.stiffness,
        motions=result.motions,
        nodes=elements.nodes,
        tetrahedra=elements.tetrahedra,
        surface=elements.surface,
        shapes=result.shapes,
        second=result.second,
        numbers=elements.numbers,
        report=report,
    )
    return _Result(found, result)


def _check_apart(request: Request, interfaces: list[Any]) -> None:
    """Refuse rigid interfaces that share nodes."""
    for k, one in enumerate(interfaces):
        for other in interfaces[:k]:
            common = np.intersect1d(one.nodes, other.nodes)
            if len(common) and not (one.averaging and other.averaging):
                where = next(w.where for w in (request.clamp, *request.seats) if w.name == one.name)
                raise where.error(
                    f"{len(common)} nodes of {one.name} that belong to {other.name}, too",
                    "interfaces that do not touch each other",
                    "give both smaller places: interfaces: {...: {sphere: {point, radius}}}",
                )


def _packed(found: Found) -> dict[str, Any]:
    arrays: dict[str, Any] = {f"integral_{name}": array for name, array in found.integrals.items()}
    arrays |= {f"motion_{name}": array for name, array in found.motions.items()}
    plain = {name: getattr(found, name) for name in _ARRAYS}
    text = np.frombuffer(json.dumps(found.report).encode(), dtype=np.uint8)
    return {**arrays, **plain, "report": text}


def _unpacked(arrays: Mapping[str, Any]) -> Found:
    def named(start: str) -> dict[str, Array]:
        return {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}

    plain = {name: arrays[name] for name in _ARRAYS}
    report = json.loads(bytes(arrays["report"]).decode())
    return Found(integrals=named("integral_"), motions=named("motion_"), report=report, **plain)
