"""Nodes, K and M in the files of CalculiX, Abaqus and Nastran."""

import shutil
import struct
import subprocess

import numpy as np
import pytest

pytest.importorskip("scipy", reason="SciPy is not installed: pip install 'elastogen[mesh]'")

from elastogen.generator.robot.errors import RobotError
from elastogen.generator.robot.location import Location
from elastogen.generator.solids.given.matrices import Matrices
from elastogen.generator.solids.given.matrix_files import read_matrix, read_nodes

HERE = Location("file")
# written by pyNastran 1.4.1: OP4().write_op4("d.op4", {"KGG": (6, A)}, is_binary=False)
DENSE = b"""\
       6       6       6       2KGG     1P,3E23.16
       1       1       2
 2.5000000000000000E+00-1.2500000000000000E+00
       2       1       3
-1.2500000000000000E+00 3.5000000000000000E+00 3.0000000000000001E-05
       3       2       5
 3.0000000000000001E-05 4.5000000000000000E+00 0.0000000000000000E+00
 0.0000000000000000E+00 1.2500000000000000E-01
       4       4       1
 5.5000000000000000E+00
       5       5       1
 6.5000000000000000E+00
       6       3       4
 1.2500000000000000E-01 0.0000000000000000E+00 0.0000000000000000E+00
 7.5000000000000000E+00
       7       1       1
 1.0000000000000000E+00
"""
# the same in strings: L + 1 times 65536 plus the first row, L words of a string, two for each number
SPARSE = b"""\
       6       6       6       2KGG     1P,3E23.16
       1       0       5
  327681
 2.5000000000000000E+00-1.2500000000000000E+00
       2       0       7
  458753
-1.2500000000000000E+00 3.5000000000000000E+00 3.0000000000000001E-05
       3       0       8
  327682
 3.0000000000000001E-05 4.5000000000000000E+00
  196614
 1.2500000000000000E-01
       4       0       3
  196612
 5.5000000000000000E+00
       5       0       3
  196613
 6.5000000000000000E+00
       6       0       6
  196611
 1.2500000000000000E-01
  196614
 7.5000000000000000E+00
       7       1       1
 1.0000000000000000E+00
"""
EXPECTED = np.diag([2.5, 3.5, 4.5, 5.5, 6.5, 7.5])
EXPECTED[0, 1] = EXPECTED[1, 0] = -1.25
EXPECTED[1, 2] = EXPECTED[2, 1] = 3e-5
EXPECTED[2, 5] = EXPECTED[5, 2] = 0.125


def two_nodes():
    return read_nodes(b"10 0 0 0\n7, 1 2 3\n", "txt", HERE)


@pytest.mark.parametrize("text", [DENSE, SPARSE])
def test_nastran_output4(text):
    found = read_matrix("stiffness", text, "op4", b"", two_nodes(), HERE)
    np.testing.assert_array_equal(found.toarray(), EXPECTED)


def record(content, order="<"):
    length = struct.pack(order + "i", len(content))
    return length + content + length


def strings_of(column):
    """First rows, from 0, and entries of the parts of a column without zeros."""
    rows = np.flatnonzero(column)
    return [(part[0], column[part]) for part in np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1)] if len(rows) else []


def output4(name, A, order="<", dense=False, big=False, single=False):
    """An OP4 file by its documentation: header, a record for each column, one column too many."""
    words, form = (1, "f4") if single else (2, "f8")
    n = len(A)
    size = struct.pack(order + "4i", n, -n if big else n, 6, 1 if single else 2)
    data = record(size + f"{name:8s}".encode(), order)
    for k, column in enumerate(A.T):
        if dense:
            first, last = np.flatnonzero(column)[[0, -1]]
            content = column[first : last + 1].astype(order + form).tobytes()
            data += record(struct.pack(order + "3i", k + 1, first + 1, len(content) // 4) + content, order)
            continue
        content = b""
        for first, values in strings_of(column):
            length = words * len(values) + 1
            head = struct.pack(order + "2i", length, first + 1) if big else struct.pack(order + "i", length * 65536 + first + 1)
            content += head + values.astype(order + form).tobytes()
        data += record(struct.pack(order + "3i", k + 1, 0, len(content) // 4) + content, order)
    return data + record(struct.pack(order + "3id", n + 1, 1, 2, 1.0), order)


def output2(matrices, order="<", integer="i"):
    """An OP2 file by its documentation: label, a table that is no matrix, and the matrices; every record behind its length."""
    size = struct.calcsize(integer)

    def key(*numbers):
        return b"".join(record(struct.pack(order + integer, number), order) for number in numbers)

    def whole(*numbers):
        return key(len(numbers)) + record(struct.pack(order + f"{len(numbers)}{integer}", *numbers), order)

    def text(name):
        return key(2) + record(f"{name:{2 * size}s}".encode(), order)

    data = key(3) + record(struct.pack(order + "3" + integer, 1, 2, 3), order) + key(-1, 0)
    data += text("GEOM1") + key(-1) + whole(101, 0, 0, 0, 0, 0, 0) + key(-2, 1, 0) + text("GEOM1") + key(-3, 1, 0) + key(0)
    for number, (name, A) in enumerate(matrices.items()):
        n = len(A)
        data += text(name) + key(-1) + whole(102 + number, n, n, 6, 2, 2 * n, 100) + key(-2, 1, 0) + text(name)
        for k, column in enumerate(A.T):
            data += key(-3 - k, 1, 1)
            for first, values in strings_of(column):
                content = struct.pack(order + integer, first + 1) + values.astype(order + "f8").tobytes()
                data += key(len(content) // size) + record(content, order)
        data += key(-3 - n, 1, 0) + key(0)
    return data + key(0)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("form", [{}, {"dense": True}, {"big": True}, {"single": True}])
def test_nastran_output4_in_binary(order, form):
    expected = EXPECTED.astype(np.float32) if "single" in form else EXPECTED
    data = output4("KGG", EXPECTED, order, **form)
    np.testing.assert_array_equal(read_matrix("stiffness", data, "op4", b"", two_nodes(), HERE).toarray(), expected)
    both = data + output4("MGG", 2 * EXPECTED, order, **form)
    np.testing.assert_array_equal(read_matrix("mass", both, "op4", b"", two_nodes(), HERE).toarray(), 2 * expected)
    with pytest.raises(RobotError, match="damaged record"):
        read_matrix("mass", both[:-300], "op4", b"", two_nodes(), HERE)


def test_nastran_output4_of_large_matrices_as_text():
    """Two numbers before each string, and a negative number of rows: as Nastran writes more than 65535 rows."""
    lines = [f"{6:8d}{-6:8d}{6:8d}{2:8d}KGG     1P,3E23.16"]
    for k, column in enumerate(EXPECTED.T):
        parts = strings_of(column)
        lines.append(f"{k + 1:8d}{0:8d}{sum(2 * len(values) + 2 for _, values in parts):8d}")
        for first, values in parts:
            lines += [f"{2 * len(values) + 1:8d}{first + 1:8d}", "".join(f"{value:23.16E}" for value in values)]
    text = "\n".join([*lines, f"{7:8d}{1:8d}{1:8d}", f"{1.0:23.16E}"]).encode()
    np.testing.assert_array_equal(read_matrix("stiffness", text, "op4", b"", two_nodes(), HERE).toarray(), EXPECTED)


@pytest.mark.parametrize(("order", "integer"), [("<", "i"), (">", "i"), ("<", "q")])
def test_nastran_output2(order, integer):
    data = output2({"KGG": EXPECTED, "MGG": 2 * EXPECTED}, order, integer)
    for name, factor in (("stiffness", 1), ("mass", 2)):
        found = read_matrix(name, data, "op2", b"", two_nodes(), HERE)
        np.testing.assert_array_equal(found.toarray(), factor * EXPECTED)
    with pytest.raises(RobotError, match="matrices KGG, K4XX: expected MGG or MAA"):
        read_matrix("mass", output2({"KGG": EXPECTED, "K4XX": EXPECTED}, order, integer), "op2", b"", two_nodes(), HERE)


def test_nastran_with_rotations_that_are_zero():
    """Six freedoms of a node: those of solid elements have no rotations."""
    lines = [f"{12:8d}{12:8d}{6:8d}{2:8d}KGG     1P,3E23.16"]
    for column in (1, 2, 3, 7, 8, 9):
        lines += [f"{column:8d}{column:8d}{1:8d}", f"{float(column):23.16E}"]
    text = "\n".join([*lines, f"{13:8d}{1:8d}{1:8d}", f"{1.0:23.16E}"]).encode()
    found = read_matrix("stiffness", text, "op4", b"", two_nodes(), HERE)
    np.testing.assert_array_equal(found.diagonal(), [1, 2, 3, 7, 8, 9])
    turning = text.replace(f"{3:8d}{3:8d}{1:8d}".encode(), f"{4:8d}{4:8d}{1:8d}".encode())
    with pytest.raises(RobotError, match="rotations that are not zero"):
        read_matrix("stiffness", turning, "op4", b"", two_nodes(), HERE)


def test_abaqus_matrix_input():
    """Row node, direction, column node, direction, value: the lower triangle, nodes in any order."""
    places = [(10, axis) for axis in (1, 2, 3)] + [(7, axis) for axis in (1, 2, 3)]
    lines = ["** a comment", "*MATRIX INPUT"]
    lines += [f"{places[i][0]},{places[i][1]}, {places[j][0]},{places[j][1]}, {EXPECTED[i, j]:.17e}"
              for i in reversed(range(6)) for j in range(i + 1) if EXPECTED[i, j]]  # fmt: skip
    found = read_matrix("stiffness", "\n".join(lines).encode(), "mtx", b"", two_nodes(), HERE)
    np.testing.assert_array_equal(found.toarray(), EXPECTED)
    with pytest.raises(RobotError, match="node 10"):
        read_matrix("stiffness", "\n".join(lines).encode(), "mtx", b"", read_nodes(b"7 1 2 3\n8 0 0 0", "txt", HERE), HERE)


def test_nodes_of_bulk_data_and_input_files():
    cards = "GRID    " + "".join(f"{field:>8}" for field in ("5", "", "1.5-3", "2.0", "3.0")) + "\nGRID,8,,1.,2.5D-2,3.\n"
    cards += "GRID*   " + "".join(f"{field:>16}" for field in ("9", "", "1.0", "2.0")) + f"\n*       {'3.0':>16}\nCTETRA  1\n"
    found = read_nodes(cards.encode(), "bdf", HERE)
    assert found.numbers.tolist() == [5, 8, 9]
    np.testing.assert_allclose(found.places, [[1.5e-3, 2, 3], [1, 2.5e-2, 3], [1, 2, 3]], rtol=1e-15)
    found = read_nodes(b"*HEADING\ntext\n*NODE, NSET=all\n3, 1., 2., 3.\n** remark\n 4, 0, 1\n*ELEMENT\n1, 3, 4\n", "inp", HERE)
    assert found.numbers.tolist() == [3, 4]
    np.testing.assert_array_equal(found.places, [[1, 2, 3], [0, 1, 0]])
    with pytest.raises(RobotError, match="basic frame"):
        read_nodes(b"GRID,1,7,0.,0.,0.\n", "bdf", HERE)
    with pytest.raises(RobotError, match="every node once"):
        read_nodes(b"1 0 0 0\n1 0 0 1\n", "txt", HERE)


@pytest.mark.parametrize(
    ("data", "ending", "expected"),
    [
        (b"*MATRIX\n1,1,1,1,2.0\n\n1,1,1,2,x\n", "mtx", "line 4: '1,1,1,2,x', expected node, direction"),
        (b"1,1,1,1,2.0\n1,1,2,1\n", "mtx", "line 2: '1,1,2,1'"),
        (b"1,1,1,1,nan\n", "mtx", "line 1: '1,1,1,1,nan'"),
        (
            b"%%MatrixMarket matrix coordinate real general\n6 6 2\n1 1 1.0\n2 2 x\n",
            "mtx",
            "line 4: '2 2 x', expected row, column and value",
        ),  # SciPy 1.10 names no line
        (DENSE[: len(DENSE) // 2], "op4", "line [0-9]+"),
        (DENSE.replace(b"E+00", b"X+00", 1), "op4", "line 3.*numbers of [0-9]+ characters"),
        (b"1 2 3", "mtx", "one of the known formats"),
        (b"", "mtx", "one of the known formats"),
        (b"1 1 2.0", "sti", "no freedoms"),
        (DENSE.replace(b"E+00", b"X+00"), "op4", "one of the known formats"),
        (DENSE.replace(b"       2KGG", b"       4KGG"), "op4", "one real matrix alone"),
        (DENSE.replace(b"       2KGG", b"       7KGG"), "op4", "of type 7, expected 1 to 4"),
        (DENSE.replace(b"KGG ", b"BGG ") + DENSE.replace(b"KGG ", b"PGG "), "op4", "BGG, PGG: expected KGG or"),
        (b"\x00" * 20, "op4", "one of the known formats"),
        (b"\x00" * 20, "op2", "one of the known formats"),
        (DENSE, "op2", "a damaged record|no number of words"),
    ],
)
def test_bad_matrices(data, ending, expected):
    with pytest.raises(RobotError, match=expected):
        read_matrix("stiffness", data, ending, b"", two_nodes(), HERE)


@pytest.mark.parametrize(
    ("data", "freedoms", "expected"),
    [
        (b"1 1 2.0\n1 2 a\n", b"1.1\n1.2\n", "line 2: '1 2 a', expected row, column and value"),
        (b"1 1 2.0\n1 3 4.0\n", b"1.1\n1.2\n", "line 2: '1 3 4.0', expected rows and columns from 1 to 2"),
        (b"1 1 2.0\n", b"1.1\n1-2\n", "line 2: '1-2', expected node.direction, in freedoms"),
    ],
)
def test_bad_lines_of_calculix(data, freedoms, expected):
    with pytest.raises(RobotError, match=expected):
        read_matrix("stiffness", data, "sti", freedoms, two_nodes(), HERE)


@pytest.mark.parametrize(
    ("data", "ending", "expected"),
    [
        (b"# places\n0 0 0\n1 0 b\n", "txt", "line 3: '1 0 b', expected x y z"),
        (b"1, 0, 0, 0\n2, 1, 0\n", "csv", "line 2: '2, 1, 0', expected x y z"),
        (b"0 0\n", "txt", "line 1: '0 0'"),
        (b"*NODE\n1, 0, 0, 0\n2, 0, o, 0\n", "inp", "line 3: '2, 0, o, 0', expected number, x, y, z"),
        (b"BEGIN BULK\nGRID,1,,0.,0.,0.\nGRID,2,,0.,x,0.\n", "bdf", "line 3: 'GRID,2,,0.,x,0.', expected GRID"),
        (b"GRID,1\n", "bdf", "line 1: 'GRID,1', expected GRID"),
    ],
)
def test_bad_lines_of_nodes(data, ending, expected):
    with pytest.raises(RobotError, match=expected):
        read_nodes(data, ending, HERE)


@pytest.mark.skipif(shutil.which("ccx") is None, reason="CalculiX is not installed: apt install calculix-ccx")
def test_calculix_matrix_storage(tmp_path):
    """Ten-node tetrahedra: K to all digits that CalculiX prints, the mass to its rule; a node of no element is left out."""
    skfem = pytest.importorskip("skfem", reason="scikit-fem is not installed: pip install 'elastogen[mesh]'")
    from elastogen.generator.solids.materials import Material
    from elastogen.generator.solids.solid import Solid, quadratic_elements

    mesh = skfem.MeshTet.init_tensor(np.linspace(0, 0.3, 3), np.linspace(0, 0.1, 2), np.linspace(0, 0.08, 2))
    elements = quadratic_elements(Solid.of(mesh.p.T, mesh.t.T.astype(np.int64)), Material(70e9, 0.33, 2700.0))
    lines = ["*NODE", "3, 9., 9., 9."]
    lines += [f"{10 * i}, {x:.12g}, {y:.12g}, {z:.12g}" for i, (x, y, z) in enumerate(elements.nodes, 1)]
    lines += ["*ELEMENT, TYPE=C3D10, ELSET=all"]
    for number, cell in enumerate(10 * (elements.tetrahedra + 1), 1):
        lines += [f"{number}, " + ", ".join(map(str, cell[:7])) + ",", ", ".join(map(str, cell[7:]))]
    lines += ["*MATERIAL, NAME=al", "*ELASTIC", "70e9, 0.33", "*DENSITY", "2700.", "*SOLID SECTION, ELSET=all, MATERIAL=al"]
    lines += ["*STEP", "*FREQUENCY, SOLVER=MATRIXSTORAGE", "1", "*END STEP"]
    (tmp_path / "box.inp").write_text("\n".join(lines) + "\n")
    subprocess.run(["ccx", "box"], cwd=tmp_path, check=True, capture_output=True, timeout=120)
    content = {end: (tmp_path / f"box.{end}").read_bytes() for end in ("sti", "mas", "inp", "dof")}
    unit = tuple(tuple(float(i == j) for j in range(4)) for i in range(4))
    endings = ("sti", "mas", "inp")
    given = Matrices(content["sti"], content["mas"], content["inp"], "SI", unit, HERE, endings, content["dof"])
    found = given.elements()
    assert found.numbers.tolist() == [10 * k for k in range(1, len(elements.nodes) + 1)]
    np.testing.assert_allclose(found.nodes, elements.nodes, atol=1e-12)
    largest = abs(elements.stiffness).max()
    assert abs(found.stiffness - elements.stiffness).max() < 1e-11 * largest
    assert found.mass.sum() == pytest.approx(elements.mass.sum(), rel=1e-9)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("dense", [True, False])
def test_matrix_market(tmp_path, dense, symmetric):
    """As SciPy writes it."""
    from scipy.io import mmwrite
    from scipy.sparse import csr_matrix

    mmwrite(tmp_path / "K.mtx", EXPECTED if dense else csr_matrix(EXPECTED), symmetry="symmetric" if symmetric else "general",
            precision=17, comment="a remark\nof two lines")  # fmt: skip
    found = read_matrix("stiffness", (tmp_path / "K.mtx").read_bytes(), "mtx", b"", two_nodes(), HERE)
    np.testing.assert_array_equal(found.toarray(), EXPECTED)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("6 6 1\n7 1 2.0", "line 3: '7 1 2.0', expected rows and columns from 1 to 6"),
        ("6 6 1\n-999999999 1 2.0", "line 3: .*rows and columns from 1 to 6"),
        ("6 6 2\n1 1 2.0", "1 entries, expected 2, as line 2"),
        ("6 6 1\n1 1 x", "line 3: '1 1 x', expected row, column and value"),
        ("6 5 1\n1 1 2", "line 2: '6 5 1', expected as many rows as columns"),
        ("99999999999 99999999999 1\n1 1 2", "up to 10000000"),
        ("", "line 1"),
    ],
)
def test_damaged_matrix_market(text, expected):
    """SciPy's reader ends the process at some of these."""
    data = f"%%MatrixMarket matrix coordinate real general\n{text}\n".encode()
    with pytest.raises(RobotError, match=expected):
        read_matrix("stiffness", data, "mtx", b"", two_nodes(), HERE)
    with pytest.raises(RobotError, match=r"line 1: .*complex.*expected %%MatrixMarket"):
        read_matrix("stiffness", data.replace(b"real", b"complex"), "mtx", b"", two_nodes(), HERE)
