"""Equal forms of a rigid body that need fewer operations for its force and moment.

About the centre of mass products of inertia are often zero. Or a part of the mass is taken out and put on the origin of the
next joint, whose acceleration is known: that part is chosen so that a first moment of what remains is zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from elastogen.generator.mechanism.mechanism import Mechanism
from elastogen.generator.spatial.inertia import Inertia
from elastogen.generator.spatial.vectors import Symmetric, Vec

ROUNDING = 1e-14  # of a pseudo-inertia: what is left of it in another form and smaller is zero
MOST = 4.0  # times the body's mass that may be put elsewhere: with more, what remains would cancel it


@dataclass(frozen=True)
class Form:
    """A body about a point of its frame, without the mass [kg] that is on the origin of a frame further out."""

    body: Inertia
    centre: Vec | None = None  # the point; the frame's origin if there is none
    ahead: tuple[int, float] | None = None  # that frame and the mass

    @property
    def is_other(self) -> bool:
        """Whether it is not the body as it is."""
        return self.centre is not None or self.ahead is not None

    @property
    def operations(self) -> int:
        """That depend on the form: m a 6; U S and S x a 10 for each first moment, a product of inertia 6, a mass ahead 6."""
        moments = self.body.S if self.centre is None else self.centre
        used = sum(not s.is_zero for s in moments)
        return 6 * (not self.body.m.is_zero) + 10 * used + 6 * self.body.P.products + 6 * (self.ahead is not None)


def simplest_forms(mechanism: Mechanism, *, ahead: bool) -> list[Form]:
    """Of the bodies of every frame; ``ahead`` allows masses on frames that rotate on it about a fixed place."""
    found = []
    for index, frame in enumerate(mechanism.frames):
        rotating = [k for k, other in enumerate(mechanism.frames) if other.parent == index and other.motion.parallel_rotation]
        places = {k: mechanism.frames[k].position for k in rotating if ahead}
        forms = [Form(frame.inertia)] if frame.elastic is not None else _forms(frame.inertia, places)
        found.append(min(forms, key=lambda form: form.operations))
    return found


def _forms(inertia: Inertia, places: Mapping[int, Vec]) -> Iterator[Form]:
    """The body as it is, then, where all its numbers are fixed, the others."""
    yield Form(inertia)
    fixed = _numbers([inertia.m, *inertia.S, *inertia.P.entries])
    if fixed is None or not fixed[0]:
        return
    graph, (m, *S) = inertia.m.graph, fixed[:4]
    com = [graph.value(s / m) for s in S]
    about = inertia.shifted([-c for c in com])
    yield Form(_rounded(Inertia(inertia.m, [graph.value(0)] * 3, about.P), inertia), com)
    for k, place in places.items():
        for s, p in zip(S, _numbers(place) or [0.0] * 3, strict=True):
            if s and abs(s) <= MOST * m * abs(p):
                taken = replace(Inertia.zero(graph), m=graph.value(-s / p)).shifted(place)
                yield Form(_rounded(inertia + taken, inertia), None, (k, s / p))


def _numbers(values: Vec) -> list[float] | None:
    """Fixed values; nothing where one is live."""
    found = [value.constant for value in values if value.constant is not None]
    return found if len(found) == len(values) else None


def _rounded(body: Inertia, like: Inertia) -> Inertia:
    """A body with zeros for what is left of differences of another one's numbers by rounding."""
    graph = body.m.graph

    def cleaned(values: Vec, original: Vec) -> Vec:
        least = ROUNDING * max(abs(value.constant or 0.0) for value in original)
        return [graph.value(0) if abs(value.constant or 0.0) <= least else value for value in values]

    (m,) = cleaned([body.m], [like.m])
    P = Symmetric(*cleaned([*body.P.entries], [*like.P.entries]))
    return Inertia(m, cleaned(body.S, like.S), P)
