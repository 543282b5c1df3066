"""Reading scans: every format gives back what was written, and says what is wrong when it cannot."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cli.scan_files import PLY_TYPES, ply_bytes, small_scan, vertex_records, write_bin
from pymluops.demo import ply
from pymluops.demo.errors import InputError, MissingPackageError
from pymluops.demo.records import MAX_POINTS
from pymluops.demo.scans import guess_columns, read_scan
from support.selection import examples

SAME_FOLDER = settings(examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
COORDINATE = st.floats(-1000, 1000, width=32)


def tables(columns: st.SearchStrategy[int]) -> st.SearchStrategy[np.ndarray]:
    shapes = st.tuples(st.integers(1, 30), columns)
    return shapes.flatmap(lambda shape: hnp.arrays(np.float32, shape, elements=COORDINATE))


def assert_holds(scan, table: np.ndarray) -> None:
    """The scan has the table's coordinates, and its other columns scaled by their largest value."""
    np.testing.assert_array_equal(scan.xyz, table[:, :3])
    assert scan.columns == table.shape[1] == len(scan.names)
    rest = table[:, 3:].astype(np.float64)
    scale = np.abs(rest).max(axis=0, initial=0)
    np.testing.assert_allclose(scan.extras, rest / np.where(scale > 0, scale, 1), rtol=1e-6, atol=1e-30)


@SAME_FOLDER
@given(table=tables(st.integers(3, 9)))
def test_bin_with_columns(tmp_path: Path, table: np.ndarray) -> None:
    assert_holds(read_scan(write_bin(tmp_path / "scan.bin", table), table.shape[1]), table)


@SAME_FOLDER
@given(table=tables(st.just(5)))
def test_nuscenes_bin_has_five_columns(tmp_path: Path, table: np.ndarray) -> None:
    assert_holds(read_scan(write_bin(tmp_path / "sweep.pcd.bin", table)), table)


@SAME_FOLDER
@given(table=tables(st.integers(3, 8)), kind=st.sampled_from([">f4", "<f4", "f8", "f2"]))
def test_npy(tmp_path: Path, table: np.ndarray, kind: str) -> None:
    written = table.astype(kind)
    np.save(tmp_path / "scan.npy", written)
    assert_holds(read_scan(tmp_path / "scan.npy"), written)


def test_npy_with_fields(tmp_path: Path) -> None:
    records = np.zeros(5, dtype=[("intensity", "u1"), ("z", "f4"), ("y", "f4"), ("x", "f4")])
    records["x"], records["z"], records["intensity"] = np.arange(5), 3, [0, 10, 20, 30, 40]
    np.save(tmp_path / "scan.npy", records)
    scan = read_scan(tmp_path / "scan.npy")
    assert scan.names == ("x", "y", "z", "intensity")
    np.testing.assert_array_equal(scan.xyz, np.stack([np.arange(5), np.zeros(5), np.full(5, 3)], axis=1))
    np.testing.assert_allclose(scan.extras[:, 0], np.arange(5) / 4)


ENCODINGS = ("ascii", "binary_little_endian", "binary_big_endian")


@SAME_FOLDER
@given(
    table=tables(st.just(5)).map(np.trunc),
    encoding=st.sampled_from(ENCODINGS),
    coordinate=st.sampled_from(["f4", "f8", "i2", "i4"]),
    others=st.tuples(*[st.sampled_from(sorted(PLY_TYPES))] * 2),
    order=st.permutations(["x", "y", "z", "red", "nx"]),
)
def test_ply(tmp_path: Path, table: np.ndarray, encoding: str, coordinate: str, others: tuple, order: list) -> None:
    table[:, 3:] = np.abs(table[:, 3:]) % 100
    types = {**dict.fromkeys("xyz", coordinate), "red": others[0], "nx": others[1]}
    columns = ["x", "y", "z", "red", "nx"]
    table_in_order = table[:, [columns.index(name) for name in order]]
    records = vertex_records(table_in_order, tuple(types[name] for name in order), tuple(order))
    path = tmp_path / "scan.ply"
    path.write_bytes(ply_bytes(records, encoding))
    scan = read_scan(path)
    others_in_order = [name for name in order if name not in "xyz"]
    assert scan.names == ("x", "y", "z", *others_in_order)
    assert_holds(scan, table[:, [0, 1, 2, *(columns.index(name) for name in others_in_order)]])


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_ply_passes_over_elements_before_the_vertices(tmp_path: Path, encoding: str) -> None:
    records = vertex_records(small_scan(3, 3), ("f8", "f4", "f4"), ("x", "y", "z"))
    header = "element face 2\nproperty list uchar int vertex_indices\nproperty short flag\n"
    order = "<" if encoding == "binary_little_endian" else ">"
    if encoding == "ascii":
        before = b"3 0 1 2 7\n1 0 8\n"
    else:
        faces = [([0, 1, 2], 7), ([0], 8)]
        before = b"".join(
            bytes([len(list_)]) + np.array(list_, order + "i4").tobytes() + np.array(flag, order + "i2").tobytes()
            for list_, flag in faces
        )
    path = tmp_path / "mesh.ply"
    path.write_bytes(ply_bytes(records, encoding, before, header))
    np.testing.assert_array_equal(read_scan(path).xyz, np.stack([records[a] for a in "xyz"], axis=1))


def test_ply_with_dos_line_ends(tmp_path: Path) -> None:
    records = vertex_records(np.array([[1.5, 2.5, 3.5]]), ("f4", "f4", "f4"), ("x", "y", "z"))
    path = tmp_path / "dos.ply"
    path.write_bytes(ply_bytes(records, "ascii").replace(b"\n", b"\r\n"))
    np.testing.assert_array_equal(read_scan(path).xyz, [[1.5, 2.5, 3.5]])


def test_double_precision_map_coordinates_survive(tmp_path: Path) -> None:
    xyz = np.array([[500_000.125, 4_100_000.0625, 12.5], [500_000.25, 4_100_000.125, 12.75]])
    np.save(tmp_path / "map.npy", xyz)
    np.testing.assert_array_equal(read_scan(tmp_path / "map.npy").xyz, xyz)


@pytest.mark.parametrize("columns", [3, 4, 5, 6])
def test_columns_are_guessed(columns: int) -> None:
    table = small_scan(600, columns)
    if columns == 6:
        table[:, 3:] *= 255
    assert guess_columns(table.tobytes(), table.nbytes) == columns


def test_four_columns_are_guessed_where_nothing_tells() -> None:
    assert guess_columns(bytes(960), 960) == 4
    assert guess_columns(bytes(17), 17) == 4


def test_a_guess_is_reported(tmp_path: Path) -> None:
    scan = read_scan(write_bin(tmp_path / "scan.bin", small_scan(600, 6)))
    assert scan.notes == ("the number of columns is a guess",)


def test_a_large_scan_is_thinned_out(tmp_path: Path) -> None:
    table = np.tile(small_scan(1000), (MAX_POINTS // 1000 * 2 + 3, 1))
    scan = read_scan(write_bin(tmp_path / "big.bin", table), 4)
    assert len(scan.xyz) <= MAX_POINTS
    assert scan.notes == (f"1 in 3 of {len(table):,} points",)
    np.testing.assert_array_equal(scan.xyz, table[::3, :3])


ROWS = small_scan(10)
ROWS[[3, 7], [1, 3]] = np.nan, np.inf


@pytest.mark.parametrize("suffix", ["bin", "npy", "ply", "text.ply"])
def test_points_that_are_not_finite_are_dropped_and_counted(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"scan.{suffix}"
    records = vertex_records(ROWS, ("f4",) * 4, ("x", "y", "z", "intensity"))
    content = {
        "bin": ROWS.tobytes(),
        "npy": npy_bytes(ROWS),
        "ply": ply_bytes(records, "binary_little_endian"),
        "text.ply": ply_bytes(records, "ascii"),
    }
    path.write_bytes(content[suffix])
    scan = read_scan(path)
    kept = np.delete(ROWS, [3, 7], axis=0)
    np.testing.assert_array_equal(scan.xyz, kept[:, :3])
    np.testing.assert_allclose(scan.extras[:, 0], kept[:, 3] / kept[:, 3].max(), rtol=1e-6)
    assert scan.notes == ("2 with NaN or infinite values dropped",)


def test_the_report_says_how_many_points_were_dropped(program, tmp_path: Path) -> None:
    path = write_bin(tmp_path / "scan.bin", nan_in(small_scan(), 3))
    answer = program("demo", "--scan", path)
    assert answer.code == 0
    assert answer.out.splitlines()[1].endswith(": 399 points, 4 columns, 1 with NaN or infinite values dropped")


NAMES = ("z", "xy", "y", "yz", "x", "xyz")


@pytest.mark.parametrize("suffix", ["npy", "ply"])
def test_columns_whose_names_are_made_of_x_y_z_are_kept(tmp_path: Path, suffix: str) -> None:
    records = vertex_records(small_scan(9, 6), ("f4",) * 6, NAMES)
    path = tmp_path / f"scan.{suffix}"
    path.write_bytes(npy_bytes(records) if suffix == "npy" else ply_bytes(records, "binary_big_endian"))
    scan = read_scan(path)
    assert scan.names == ("x", "y", "z", "xy", "yz", "xyz")
    np.testing.assert_array_equal(scan.xyz, np.stack([records[name] for name in "xyz"], axis=1))
    np.testing.assert_allclose(scan.extras[:, 0], records["xy"] / records["xy"].max(), rtol=1e-6)


def test_fortran_order_and_the_first_of_many_columns(tmp_path: Path) -> None:
    table = small_scan(50, 70)
    np.save(tmp_path / "scan.npy", np.asfortranarray(table))
    scan = read_scan(tmp_path / "scan.npy")
    assert_holds(scan, table[:, :64])
    assert scan.notes == ("the first 64 columns of 70",)


# ---- What is refused -----------------------------------------------------------------------------


def nan_in(table: np.ndarray, row: int, value: float = np.nan) -> np.ndarray:
    table[row, 1] = value
    return table


def npy_bytes(array: np.ndarray, **options: object) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, **options)  # type: ignore[arg-type]
    return buffer.getvalue()


def npz_bytes() -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, a=np.zeros(3))
    return buffer.getvalue()


XYZ = vertex_records(small_scan(6, 3), ("f4", "f4", "f4"), ("x", "y", "z"))
PLY = ply_bytes(XYZ, "binary_little_endian")
TEXT_PLY = ply_bytes(XYZ, "ascii")

REFUSED = {
    "empty.bin": (b"", "is empty"),
    "odd.bin": (bytes(17), "17 bytes is not a whole number of 4-column float32 rows"),
    "odd.pcd.bin": (bytes(16), "16 bytes is not a whole number of 5-column float32 rows"),
    "nan.bin": (np.full((10, 4), np.nan, "<f4").tobytes(), "has NaN or infinite values in every one of 10 points"),
    "huge.bin": (nan_in(small_scan(10), 2, 1e30).tobytes(), "x, y, z reach 1e+30; coordinates in metres are expected"),
    "scan.las": (b"LASF", "unknown scan format '.las'; known: .bin, .npy, .ply"),
    "noname": (b"1", "unknown scan format"),
    "text.npy": (b"1 2 3", "is not a .npy file"),
    "archive.npy": (npz_bytes(), "is not a .npy file"),
    "cut.npy": (npy_bytes(small_scan(10))[:-5], "is not a readable .npy array"),
    "header.npy": (npy_bytes(small_scan(10))[:20], "is not a readable .npy array"),
    "lie.npy": (
        npy_bytes(np.zeros((9, 3))).replace(b"(9, 3), } ", b"(99, 3), }"),
        "is not a readable .npy array",
    ),
    "objects.npy": (npy_bytes(np.array([[1, 2, None]]), allow_pickle=True), "is not a readable .npy array"),
    "flat.npy": (npy_bytes(np.zeros(12)), "has shape [12]; expected [points, 3 or more columns]"),
    "narrow.npy": (npy_bytes(np.zeros((4, 2))), "has shape [4, 2]"),
    "none.npy": (npy_bytes(np.zeros((0, 4))), "holds no points"),
    "text-values.npy": (npy_bytes(np.array([["a", "b", "c"]])), "expected real numbers"),
    "complex.npy": (npy_bytes(np.zeros((4, 3), complex)), "holds complex128 values"),
    "fields.npy": (npy_bytes(np.zeros(3, [("x", "f4"), ("y", "f4")])), "has fields x, y; expected"),
    "field.npy": (npy_bytes(np.zeros(3, [("x", "f4"), ("y", "S2"), ("z", "f4")])), "field y holds |S2 values"),
    "nan.npy": (npy_bytes(small_scan(10) * np.inf), "has NaN or infinite values in every one of 10 points"),
    "long-double.npy": (npy_bytes(np.full((4, 3), np.longdouble("1e4000"))), "infinite values in every one of 4"),
    "big-integers.npy": (npy_bytes(np.full((4, 3), 2**62)), "x, y, z reach 4.61e+18"),
    "text.ply": (b"solid cube", "is not a PLY file"),
    "headless.ply": (b"ply\nformat ascii 1.0\n", "has a PLY header without an end_header line before its end"),
    "format.ply": (PLY.replace(b"little", b"middle"), "line 2: don't understand format 'binary_middle_endian'"),
    "formatless.ply": (
        PLY.replace(b"format binary_little_endian 1.0\n", b""),
        "line 3: expected one of {format, comment, obj_info}",
    ),
    "type.ply": (PLY.replace(b"float x", b"quad x"), "field type 'quad' not in"),
    "flat.ply": (PLY.replace(b"float z", b"float w"), "has vertices without z"),
    "twice.ply": (
        ply_bytes(vertex_records(small_scan(2), ("f4",) * 4, ("x", "y", "z", "w")), "ascii").replace(b" w\n", b" x\n"),
        "two properties with same name",
    ),
    "faces.ply": (PLY.replace(b"element vertex", b"element corner"), "has no vertex element"),
    "list.ply": (PLY.replace(b"float z\n", b"float z\nproperty list uchar int n\n"), "list property 'n'"),
    "none.ply": (ply_bytes(XYZ[:0], "ascii"), "holds no points"),
    "cut.ply": (PLY[:-1], "element 'vertex': row 5: early end-of-file"),
    "cut-text.ply": (TEXT_PLY[: TEXT_PLY.rstrip().rfind(b"\n") + 1], "row 5: early end-of-file"),
    "word.ply": (TEXT_PLY.rstrip().rsplit(b" ", 1)[0] + b" zero\n", "row 5: property 'z': malformed input"),
    "short-row.ply": (TEXT_PLY.rstrip().rsplit(b" ", 1)[0] + b"\n", "row 5: property 'z': early end-of-line"),
    "liar.ply": (
        ply_bytes(XYZ, "binary_big_endian", b"\x7f\xff\xff\xff", "element face 1\nproperty list int int v\n"),
        "has more than 256 MiB of lists before the vertices",
    ),
    "digits.ply": (PLY.replace(b"vertex 6", b"vertex " + b"9" * 5000), "rows of its vertex element"),
    "long-line.ply": (
        PLY.replace(b"comment", b"comme" + b"n" * 100_000),
        "line 3: expected one of {element, comment, obj_info, end_header}",
    ),
    "endless.ply": (
        PLY[: PLY.index(b"element")] + b"comment " + b"x" * (1 << 20),
        "without an end_header line in the first 1,048,576",
    ),
    "endless-row.ply": (TEXT_PLY[:-1] + bytes(3 << 20), "has a line of more than 1,048,576 bytes"),
    "many.ply": (
        ply_bytes(XYZ, "binary_big_endian", b"\x00" * 99, "element face 1000000000000\nproperty list uchar int v\n"),
        "is truncated: too short for 1000000000000 rows of its face element",
    ),
    "lists.ply": (
        ply_bytes(XYZ, "binary_big_endian", bytes(1_000_001), "element face 1000001\nproperty list uchar int v\n"),
        "has more than 1,000,000 lists in its face element",
    ),
    "overrun.ply": (
        ply_bytes(XYZ[:0], "binary_big_endian", b"", "element e 10\nproperty float q\n"),
        "element 'e': row 0: early end-of-file",
    ),
    "wide.ply": (
        ply_bytes(XYZ, "binary_big_endian", b"", "").replace(
            b"property",
            b"property double a\n" + b"".join(b"property double a%d\n" % i for i in range(9000)) + b"property",
            1,
        )
        + bytes(8 * 9001 * 6),
        "has records of more than 65,536 bytes",
    ),
    "negative.npy": (npy_bytes(np.zeros((9, 3))).replace(b"(9, 3), ", b"(-9, 3),"), "it has an impossible shape"),
    "digits.npy": (
        npy_bytes(np.zeros((9, 3))).replace(b"(9, 3), }", b"(%s, 3), }" % (b"9" * 40)),
        "not a readable .npy",
    ),
    "brackets.npy": (b"\x93NUMPY\x01\x00\x10\x27" + b"(" * 10_000, "is not a readable .npy array"),
    "cut-list.ply": (
        ply_bytes(XYZ[:0], "binary_big_endian", b"\x00", "element face 3\nproperty list int int v\n"),
        "element 'face': row 0: property 'v': early end-of-file",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_files_are_named_with_the_problem(tmp_path: Path, name: str) -> None:
    content, problem = REFUSED[name]
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_scan(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert problem in message
    assert "\n" not in message
    assert len(message) < len(str(path)) + 300


def test_comments_may_hold_any_letters(tmp_path: Path) -> None:
    content = PLY.replace(b"comment written by a test\n", "comment caf\u00e9 \u2028 \x0b\nobj_info \xfc\n".encode())
    (tmp_path / "letters.ply").write_bytes(content)
    assert len(read_scan(tmp_path / "letters.ply").xyz) == len(XYZ)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_elements_after_the_vertices_are_not_looked_at(tmp_path: Path, encoding: str) -> None:
    content = ply_bytes(XYZ, encoding).replace(b"end_header", b"element face 3\nproperty list uchar int v\nend_header")
    (tmp_path / "mesh.ply").write_bytes(content + b"9")
    assert len(read_scan(tmp_path / "mesh.ply").xyz) == len(XYZ)


def test_lists_before_the_vertices_have_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ply, "MAX_READ_BYTES", 100)
    lists = (b"\x00\x0a" + bytes(10)) * 9
    header = "element face 9\nproperty list short uchar v\n"
    (tmp_path / "mesh.ply").write_bytes(ply_bytes(XYZ, "binary_big_endian", lists, header))
    with pytest.raises(InputError, match="MiB of lists before the vertices"):
        read_scan(tmp_path / "mesh.ply")


def test_without_plyfile_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "scan.ply").write_bytes(PLY)
    monkeypatch.setitem(sys.modules, "plyfile", None)
    with pytest.raises(MissingPackageError) as caught:
        read_scan(tmp_path / "scan.ply")
    assert str(caught.value).endswith(
        'scan.ply: reading PLY scans needs plyfile, which is not installed: pip install "pymluops[demo]"'
    )


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "folder.bin"
    folder.mkdir()
    for path, problem in (
        (folder, "is a directory"),
        (tmp_path / "gone.bin", "No such file or directory"),
        (Path("/dev/null"), "is not a regular file"),
        (Path("a\0b.bin"), "null"),
    ):
        with pytest.raises(InputError, match=problem):
            read_scan(path)


def test_an_unreadable_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, mode: str) -> None:
        raise PermissionError(13, "Permission denied")

    path = write_bin(tmp_path / "scan.bin", small_scan(4))
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError, match=r"scan\.bin: Permission denied"):
        read_scan(path)


def test_columns_are_for_raw_files(tmp_path: Path) -> None:
    np.save(tmp_path / "scan.npy", small_scan(4))
    with pytest.raises(InputError, match=r"--columns is for raw \.bin files"):
        read_scan(tmp_path / "scan.npy", 4)


@SAME_FOLDER
@given(
    content=st.binary(min_size=1, max_size=300), suffix=st.sampled_from([".bin", ".npy", ".ply"]), head=st.booleans()
)
def test_any_bytes_are_read_or_refused(tmp_path: Path, content: bytes, suffix: str, head: bool) -> None:
    heads = {".bin": b"", ".npy": npy_bytes(small_scan(3))[:90], ".ply": TEXT_PLY[:60]}
    path = tmp_path / f"scan{suffix}"
    path.write_bytes(heads[suffix] + content if head else content)
    try:
        assert np.isfinite(read_scan(path).xyz).all()
    except InputError as error:
        assert "\n" not in str(error)
