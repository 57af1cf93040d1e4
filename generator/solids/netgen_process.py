"""A process of its own for Netgen, which may crash or hang on bad geometry: ``netgen_process.py FILE KIND SIZE OUT NEAR``.

Reads a .stl or .step file, writes corners and tetrahedra to OUT (.npz). Lengths are the file's. NEAR is a list of
``x,y,z,size;...``: smaller elements around points.
"""

import sys


def main() -> int:
    """Mesh one solid; what goes wrong is the last line of stderr."""
    import numpy as np
    from netgen.meshing import MeshingParameters

    path, kind, size, out, near = sys.argv[1:6]
    if kind == "stl":
        from netgen.stl import STLGeometry as Geometry
    else:
        from netgen.occ import OCCGeometry as Geometry
    geometry = Geometry(path)
    if kind == "step":
        solids = len(list(geometry.shape.solids))
        if solids != 1:
            print(f"solids: {solids}", file=sys.stderr)
            return 3
    parameters = MeshingParameters(maxh=float(size))
    for place in filter(None, near.split(";")):
        x, y, z, smaller = map(float, place.split(","))
        parameters.RestrictH(x=x, y=y, z=z, h=smaller)
    mesh = geometry.GenerateMesh(parameters)
    corners = np.array([list(point.p) for point in mesh.Points()], dtype=float).reshape(-1, 3)
    cells = np.array([[vertex.nr - 1 for vertex in element.vertices] for element in mesh.Elements3D()], dtype=np.int64)
    if not len(cells):
        print("no tetrahedra", file=sys.stderr)
        return 4
    np.savez(out, corners=corners, cells=cells[:, :4])
    return 0


if __name__ == "__main__":
    sys.exit(main())
