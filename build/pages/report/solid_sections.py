"""Links by meshes in a report: what was meshed, how well few coordinates stand for all elements, and how joints hold them."""

from __future__ import annotations

from html import escape

from elastogen.build.pages.report.section import ReportSection, table
from elastogen.build.pages.report.subject import Subject


def solids(subject: Subject) -> ReportSection | None:
    """Sizes, frequencies with the robot's own bodies, effective masses and interfaces of every link by a mesh."""
    html: list[str] = []
    for link in subject.robot.links:
        if link.flexible is None or link.flexible.solid is None:
            continue
        found = link.flexible.solid.report
        facts = [("degrees of freedom", found["freedoms"]), ("mass [kg]", f"{found['mass']:.6g}")]
        if "elements" in found:
            facts.insert(0, ("elements", found["elements"]))
        if found.get("size"):
            facts.append(("size of the elements [m]", f"{found['size']:.4g}"))
        if found.get("moved") is not None:
            facts.append((f"frequencies moved by, since {found['coarser']} elements", f"{found['moved']:.2%}"))
            facts.append(("expected to move by, at half the size", f"{found['ahead']:.2%}"))
        facts += [(f"interface {name}", how) for name, how in found["interfaces"].items()]
        rows = [
            (name, f"{kept:.6g}", f"{full:.6g}", *(f"{100 * part:.3g}" for part in masses))
            for name, kept, full, masses in zip(
                link.flexible.coordinates, found["frequencies"], found["full"], found["effective_masses"], strict=False
            )
        ]
        head = ("coordinate", "reduced [Hz]", "all elements [Hz]", "x [%]", "y [%]", "z [%]")
        html += [f"<h3>{escape(link.name)}</h3>", table(("", ""), facts), table(head, rows, numbers=(1, 2, 3, 4, 5))]
    if not html:
        return None
    text = (
        "Frequencies with the joints of the link held and the robot's own bodies on it, of the coordinates that were kept and "
        "of all elements; parts of the mass that shakes with each along x, y and z of the link."
    )
    return ReportSection("Links by meshes", text, tuple(html))
