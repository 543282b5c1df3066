"""Files larger than the memory: what is wanted of them is read, or they are refused in one line."""

from __future__ import annotations

import json
import os
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from cli.scan_files import ply_bytes, small_scan, vertex_records
from pymluops.demo import records
from pymluops.demo.errors import InputError
from pymluops.demo.images import read_image
from pymluops.demo.scans import read_scan
from support.processes import python_output

LARGE = 200_000_000_000
MOST_MIB = 300

READ = """
import json, sys
from pathlib import Path
from pymluops.demo.errors import InputError
from pymluops.demo.scans import read_scan
results = []
for path in sys.argv[1:]:
    try:
        scan = read_scan(Path(path))
        results.append([len(scan.xyz), scan.columns, *scan.notes])
    except InputError as error:
        results.append(str(error))
# Not getrusage: its maximum begins with what the parent had before this process replaced it.
peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps([results, int(peak) // 1024]))
"""


def ply_head(count: int, encoding: str = "binary_little_endian") -> bytes:
    one = ply_bytes(vertex_records(small_scan(1, 3), ("f4",) * 3, ("x", "y", "z")), encoding)
    return one[: one.index(b"end_header\n") + 11].replace(b"vertex 1", b"vertex %d" % count)


def npy_head(count: int, fortran: bool) -> bytes:
    text = f"{{'descr': '<f8', 'fortran_order': {fortran}, 'shape': ({count}, 5), }}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


#: Older releases of plyfile, which go with older ones of NumPy, reserve memory for what they map.
MAPS = tuple(map(int, metadata.version("plyfile").split(".")[:3])) >= (1, 1, 5)

FILES = {
    "scan.bin": (b"", [149_999, 4, "1 in 83,334 of 12,500,000,000 points"]),
    "scan.ply": (
        ply_head(16_000_000_000),
        [150_000, 3, "1 in 106,667 of 16,000,000,000 points"]
        if MAPS
        else "is larger than the memory; plyfile reads it from release 1.1.5 on",
    ),
    "rows.npy": (npy_head(4_000_000_000, False), [149_999, 5, "1 in 26,667 of 4,000,000,000 points"]),
    "text.ply": (
        ply_head(10**9, "ascii"),
        "is a text of 190,735 MiB; the limit is 256 MiB, and binary PLY files have none",
    ),
}


def test_scans_of_200_gb_take_little_memory(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in FILES]
    for path in paths:
        path.write_bytes(FILES[path.name][0])
        os.truncate(path, LARGE)
    results, mib = json.loads(python_output(READ, *map(str, paths)))
    for path, result in zip(paths, results, strict=True):
        expected = FILES[path.name][1]
        assert result == (f"{path}: {expected}" if isinstance(expected, str) else expected)
    assert mib < MOST_MIB


@pytest.mark.parametrize("encoding", ["bin", "rows.npy", "columns.npy", "binary_big_endian", "ascii"])
@pytest.mark.parametrize("most", [1000, 700, 90, 7])
def test_reading_in_pieces_gives_every_nth_point(
    tmp_path: Path, encoding: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "MAX_POINTS", most)
    monkeypatch.setattr(records, "BLOCK_BYTES", 1000)  # pieces of a few rows
    monkeypatch.setattr(records, "FAR_APART", 100)  # rows one by one from every fifth on
    table = small_scan(1000, 5)
    path = tmp_path / f"scan.{'ply' if '_' in encoding or encoding == 'ascii' else encoding}"
    if encoding == "bin":
        path.write_bytes(table.tobytes())
    elif path.suffix == ".npy":
        np.save(path, table if encoding == "rows.npy" else np.asfortranarray(table))
    else:
        path.write_bytes(ply_bytes(vertex_records(table, ("f4",) * 5, ("x", "y", "z", "a", "b")), encoding))
    scan = read_scan(path, 5 if encoding == "bin" else None)
    step = -(-1000 // most)
    np.testing.assert_array_equal(scan.xyz, table[::step, :3])
    np.testing.assert_allclose(scan.extras[:, 1], table[::step, 4] / table[::step, 4].max(), rtol=1e-6)


def test_a_file_that_shrinks_meanwhile_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "scan.bin"
    path.write_bytes(small_scan(100).tobytes())
    thinning = records.thinning

    def cut_first(count: int) -> tuple[int, int]:
        os.truncate(path, 800)
        return thinning(count)

    monkeypatch.setattr(records, "thinning", cut_first)
    with pytest.raises(InputError, match="became shorter while it was read"):
        read_scan(path, 4)


PICTURES = {
    "large.npy": (npy_head(50_000, False).replace(b"50000, 5", b"90000, 90000"), "has too many pixels, 90000 x 90000"),
    "large.ppm": (b"P6 90000 90000 255\n", "has too many pixels"),
    "text.ppm": (b"P3 90000 90000 255\n", "has too many pixels"),
}


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_that_is_too_large_is_refused_before_it_is_read(tmp_path: Path, name: str) -> None:
    head, problem = PICTURES[name]
    path = tmp_path / name
    path.write_bytes(head)
    os.truncate(path, LARGE)
    with pytest.raises(InputError) as caught:
        read_image(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert problem in str(caught.value)
