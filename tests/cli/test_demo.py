"""The demo from end to end: on small files, without files, with pictures, and with operators that are wrong."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image as PillowImage

import pymluops
from cli.scan_files import ply_bytes, small_scan, vertex_records, write_bin
from pymluops import _progress as progress
from pymluops.demo import pictures, pictures_image, pictures_scan, pipeline, sources
from pymluops.demo.images import Image
from pymluops.demo.lidar import modelled_scan
from pymluops.demo.range_view import View, range_view
from pymluops.demo.scans import read_scan

FAMILIES = {
    "tin_shift_forward", "tin_shift_backward", "psamask_forward", "psamask_backward", "border_align_forward",
    "border_align_backward", "three_interpolate_forward", "three_interpolate_backward", "get_indice_pairs",
    "voxelization", "ball_query",
}  # fmt: skip
PICTURES = ("get_indice_pairs", "three_interpolate", "objects", "psamask", "border_align", "tin_shift")


@pytest.fixture
def scan_file(tmp_path: Path) -> Path:
    return write_bin(tmp_path / "scan.bin", small_scan())


@pytest.fixture
def small_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures are drawn quickly."""
    monkeypatch.setitem(pictures.STYLE, "savefig.dpi", 25)


@pytest.fixture
def image_file(tmp_path: Path) -> Path:
    y, x = np.mgrid[0:48, 0:64]
    pixels = np.stack([x * 4, y * 5, 255 * ((x - 30) ** 2 + (y - 20) ** 2 < 150)], axis=2)
    path = tmp_path / "picture.png"
    PillowImage.fromarray(pixels.astype(np.uint8)).save(path)
    return path


def test_table(program, scan_file: Path, image_file: Path) -> None:
    answer = program("demo", "--scan", scan_file, "--image", image_file)
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert lines[0].startswith("backend  cpu (ABI 1.11.1, x86-64")
    assert lines[1] == f"scan     {scan_file}: 400 points, 4 columns"
    assert lines[3] == f"image    {image_file}: 64 x 48 pixels"
    assert lines[5].split() == ["operator", "case", "dtype", "shapes", "ms", "GB/s", "check"]
    rows = lines[6:26]
    assert {row.split()[0] for row in rows} == FAMILIES
    assert all("exact" in row or "error" in row for row in rows)
    assert lines[-1].startswith("20 of 20 checks held; ")
    assert max(map(len, rows)) < 160


def test_json_document(program, scan_file: Path, image_file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "made" / "for this"
    answer = program("demo", "--scan", scan_file, "--image", image_file, "--json", "--plot", folder, "--threads", 2)
    assert (answer.code, answer.err) == (0, "")
    document = json.loads(answer.out)
    assert set(document) == {"ok", "seconds", "backend", "scan", "image", "objects", "rows", "pictures"}
    assert document["ok"] is True
    assert document["seconds"] > 0
    backend = document["backend"]
    assert (backend["name"], backend["kind"], backend["abi_version"], backend["threads"]) == ("cpu", "cpu", "1.11.1", 2)
    assert Path(backend["path"]).is_file()
    scan = document["scan"]
    assert scan["source"] == str(scan_file)
    assert (scan["synthetic"], scan["points"], scan["columns"]) == (False, 400, ["x", "y", "z", "intensity"])
    assert 1 < scan["voxels"] <= 400
    assert scan["voxels"] <= np.prod(scan["spatial_shape"])
    assert document["image"] == {"source": str(image_file), "from_scan": False, "height": 48, "width": 64}
    assert_rows(document["rows"], scan["voxels"])
    assert document["objects"] == {"groups": 0, "boxes": 0, "kept": 0, "lacking": []}
    assert document["pictures"] == [str(folder / f"{name}.png") for name in PICTURES]
    for picture in document["pictures"]:
        with PillowImage.open(picture) as opened:
            assert min(opened.size) > 400
            assert len(opened.convert("RGB").getcolors(2**24)) > 100  # more than an empty frame


def assert_rows(rows: list[dict], voxels: int) -> None:
    assert len(rows) == 20
    assert {row["operator"] for row in rows} == FAMILIES
    for row in rows:
        assert set(row) == {"operator", "case", "dtype", "inputs", "outputs", "ms", "gbps", "check"}
        assert row["dtype"] in ("float32", "float16", "int32")
        assert row["ms"] > 0
        assert row["gbps"] > 0
        for shape in (*row["inputs"].values(), *row["outputs"].values()):
            assert all(isinstance(size, int) and size > 0 for size in shape)
        check = row["check"]
        assert check["ok"] is True
        assert check["problem"] == ""
        assert 0 <= check["error"] <= check["allowed"]
        assert check["exact"] == (check["allowed"] == 0)
    pairs = rows[0]
    assert (pairs["operator"], pairs["case"]) == ("get_indice_pairs", "sub-manifold")
    assert pairs["inputs"] == {"indices": [voxels, 4]}
    assert pairs["outputs"] == {"out_indices": [voxels, 4], "indice_pairs": [27, 2, voxels], "indice_num": [27]}
    both = {row["operator"] for row in rows if row["dtype"] == "float16"}
    assert both == {name for name in FAMILIES if not name.startswith(("psamask", "get_", "voxelization", "ball_query"))}


def test_without_files(program) -> None:
    answer = program("demo")
    assert (answer.code, answer.err) == (0, "")
    assert "scan     synthetic street scan (a model, not a measurement)" in answer.out
    assert "image    grace_hopper.jpg of the package matplotlib" in answer.out


@pytest.mark.thorough
def test_the_scan_is_the_picture_where_there_is_no_photograph(program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "PHOTOGRAPHS", (("matplotlib", "no/such.jpg"), ("no_such_package", "a.jpg")))
    answer = program("demo", "--json")
    assert answer.code == 0
    image = json.loads(answer.out)["image"]
    assert image["from_scan"] is True
    assert image["source"] == "range view of synthetic street scan (a model, not a measurement)"


@pytest.mark.thorough
@pytest.mark.usefixtures("small_pictures")
def test_a_scan_of_the_users_own_is_the_picture_too(program, scan_file: Path, tmp_path: Path) -> None:
    answer = program("demo", "--scan", scan_file, "--plot", tmp_path / "plots", "--json")
    assert answer.code == 0
    document = json.loads(answer.out)
    assert document["image"]["source"] == "range view of scan.bin"
    assert [Path(picture).stem for picture in document["pictures"]] == list(PICTURES)


@pytest.mark.thorough
@pytest.mark.usefixtures("small_pictures")
def test_with_a_picture_alone_the_synthetic_scan_is_not_drawn(program, image_file: Path, tmp_path: Path) -> None:
    answer = program("demo", "--image", image_file, "--plot", tmp_path / "plots", "--json")
    assert answer.code == 0
    document = json.loads(answer.out)
    assert document["scan"]["synthetic"] is True
    assert [Path(picture).stem for picture in document["pictures"]] == ["psamask", "border_align", "tin_shift"]


@pytest.mark.thorough
@pytest.mark.thorough
def test_the_view_of_a_scan_can_be_chosen(program, scan_file: Path) -> None:
    chosen = ["--heading", "90", "--fov", "200", "--elevation", "-30", "60", "--eye", "4", "-1", "1.5"]
    document = json.loads(program("demo", "--scan", scan_file, *chosen, "--json").out)
    assert (document["ok"], document["image"]["width"], document["image"]["height"]) == (True, 576, 260)
    assert json.loads(program("demo", "--fov", "50", "--json").out)["image"]["from_scan"] is True


def test_a_view_shows_points_where_they_are() -> None:
    ring = np.deg2rad(np.arange(0, 360, 0.5))
    xyz = np.stack([10 * np.cos(ring), 10 * np.sin(ring), np.full(len(ring), 10.0)], axis=1)  # 45 degrees up
    scan = replace(modelled_scan(), xyz=xyz, extras=np.ones((len(ring), 0), np.float32), names=("x", "y", "z"))
    view = View(heading=90, fov=90, elevation=(0, 90), eye=(0, 0, 0))
    lit = range_view(scan, view).pixels.max(axis=2) > 0
    rows = np.flatnonzero(lit.any(axis=1))
    assert abs(rows.mean() - lit.shape[0] / 2) < 3  # the middle between level and straight up
    assert lit[lit.shape[0] // 2].all()
    half = replace(scan, xyz=xyz[xyz[:, 0] > 0], extras=scan.extras[xyz[:, 0] > 0])  # the right half, looking along y
    columns = np.flatnonzero((range_view(half, view).pixels.max(axis=2) > 0).any(axis=0))
    assert columns.min() > 144 - 10
    assert columns.max() == 287


@pytest.mark.sampled
@pytest.mark.parametrize(("side", "labels"), [("top", "xy"), ("front", "yz"), ("side", "xz")])
def test_the_side_a_scan_is_drawn_from(tmp_path: Path, side: str, labels: str) -> None:
    table = small_scan(200) * [4, 1, 1, 1]
    scan = read_scan(write_bin(tmp_path / "scan.bin", table), 4)
    sparse = pipeline.run_sparse(pipeline.Recorder(progress.Progress(1, "")), scan)
    seen = pictures_scan.SIDES[side]
    for figure in (
        pictures_scan.site_figure(sparse, seen), pictures_scan.interpolation_figure(sparse, sparse.interpolated, seen)
    ):  # fmt: skip
        ax = figure.axes[0]
        assert (ax.get_xlabel(), ax.get_ylabel()) == (f"{labels[0]} (m)", f"{labels[1]} (m)")
        low, high = ax.get_xlim()
        values = scan.xyz[:, "xyz".index(labels[0])]
        assert low <= values.min() + 1 and high >= values.max() - 1 and high - low < 2 * np.ptp(values) + 1
        draw(tmp_path, figure)


def test_the_modelled_scan_is_the_same_every_time() -> None:
    one, other = modelled_scan(), modelled_scan()
    np.testing.assert_array_equal(one.xyz, other.xyz)
    assert one.synthetic
    assert 40_000 < len(one.xyz) < 66_000
    distance = np.linalg.norm(one.xyz, axis=1)
    assert distance.min() >= 1.5
    assert distance.max() <= 81
    assert one.xyz[:, 2].min() > -2.0


@pytest.mark.sampled
@pytest.mark.parametrize(
    "table",
    [
        pytest.param(np.zeros((1, 4)), id="one point"),
        pytest.param(np.ones((40, 4)), id="one place"),
        pytest.param(np.array([[0, 0, 0, 0], [1e8, 1e8, -1e8, 1]]), id="far apart"),
        pytest.param(small_scan(60) * [1, 1, 0, 1], id="a plane"),
        pytest.param(small_scan(60) - [5000, 900, 100, 0], id="negative"),
        pytest.param(small_scan(60, 3), id="coordinates alone"),
        pytest.param(small_scan(60, 20), id="many columns"),
    ],
)
def test_unusual_scans(tmp_path: Path, table: np.ndarray) -> None:
    scan = read_scan(write_bin(tmp_path / "scan.bin", table), table.shape[1])
    recorder = pipeline.Recorder(progress.Progress(1, ""))
    sparse = pipeline.run_sparse(recorder, scan)
    assert [row.check.text() for row in recorder.rows if not row.check.ok] == []
    assert len(recorder.rows) == 6
    image = range_view(scan)
    assert np.isfinite(image.pixels).all()
    draw(tmp_path, pictures_scan.site_figure(sparse), pictures_scan.interpolation_figure(sparse, sparse.interpolated))


def draw(folder: Path, *figures: Figure) -> None:
    """Draw the figures small: what can go wrong goes wrong at any size."""
    for figure in figures:
        figure.savefig(folder / "figure.png", dpi=25)


@pytest.mark.sampled
@pytest.mark.parametrize("shape", [(32, 32, 3), (32, 300, 3), (300, 33, 3)])
@pytest.mark.parametrize("flat", [True, False])
def test_unusual_pictures(tmp_path: Path, shape: tuple[int, int, int], flat: bool) -> None:
    pixels = np.full(shape, 0.5, np.float32) if flat else np.random.default_rng(0).random(shape, np.float32)
    image = Image("test", pixels)
    recorder = pipeline.Recorder(progress.Progress(1, ""))
    masks, borders, frames = (
        run(recorder, image) for run in (pipeline.run_psamask, pipeline.run_border_align, pipeline.run_tin_shift)
    )
    assert [row.check.text() for row in recorder.rows if not row.check.ok] == []
    assert len(recorder.rows) == 12
    draw(
        tmp_path,
        pictures_image.attention_figure(masks.attention, masks.collect, masks.distribute, image),
        pictures_image.border_figure(borders.task, *borders.result, image),
        pictures_image.frame_figure(frames.task, frames.shifted, image),
    )


@pytest.mark.sampled
@pytest.mark.parametrize("encoding", ["ascii", "binary_little_endian", "binary_big_endian"])
def test_ply_scans(program, tmp_path: Path, image_file: Path, encoding: str) -> None:
    records = vertex_records(small_scan(), ("f4", "f4", "f4", "f8"), ("x", "y", "z", "intensity"))
    (tmp_path / "scan.ply").write_bytes(ply_bytes(records, encoding))
    answer = program("demo", "--scan", tmp_path / "scan.ply", "--image", image_file, "--json")
    assert answer.code == 0
    assert json.loads(answer.out)["scan"]["columns"] == ["x", "y", "z", "intensity"]


@pytest.mark.thorough
def test_any_file_name(process, tmp_path: Path, image_file: Path) -> None:
    name = "a $b$\nline 点云 " + os.fsdecode(b"caf\xe9.bin")  # mathematics to matplotlib; no text at all
    scan = write_bin(tmp_path / name, small_scan())
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    answer = process("demo", "--scan", scan, "--image", image_file, "--plot", tmp_path / "plots", env=environment)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.splitlines()[1].endswith("a $b$\\nline \\u70b9\\u4e91 caf\\udce9.bin: 400 points, 4 columns")


# ---- Operators that are wrong or refuse ----------------------------------------------------------


def test_a_wrong_result_fails_the_run(
    program, scan_file: Path, image_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = pymluops.tin_shift_forward

    def wrong(*arguments, out=None):
        result = right(*arguments, out=out)
        result[0, 0, 0, 0] += 1
        return result

    monkeypatch.setattr(pymluops, "tin_shift_forward", wrong)
    answer = program("demo", "--scan", scan_file, "--image", image_file)
    assert answer.code == 1
    assert answer.out.count("FAILED: 1 of ") == 2
    assert "18 of 20 checks held" in answer.out
    document = json.loads(program("demo", "--scan", scan_file, "--image", image_file, "--json").out)
    assert document["ok"] is False


@pytest.mark.sampled
@pytest.mark.parametrize(
    "operator", ["get_indice_pairs", "psamask_forward", "border_align_forward", "three_interpolate_forward"]
)
def test_a_refusing_operator_does_not_hide_the_others(
    program, scan_file: Path, image_file: Path, monkeypatch: pytest.MonkeyPatch, operator: str
) -> None:
    def refuse(*arguments, **options):
        raise pymluops.NotSupportedError(f"{operator}: too large for this card", function="mluOpSomething")

    monkeypatch.setattr(pymluops, operator, refuse)
    answer = program("demo", "--scan", scan_file, "--image", image_file, "--json")
    assert answer.code == 1
    document = json.loads(answer.out)
    failed = [row for row in document["rows"] if not row["check"]["ok"]]
    assert {row["operator"] for row in failed} == {operator}
    assert len(failed) == 2
    for row in failed:
        assert (row["ms"], row["gbps"], row["outputs"]) == (None, None, {})
        assert row["check"]["problem"] == f"NOT_SUPPORTED: {operator}: too large for this card"


@pytest.mark.usefixtures("small_pictures")
def test_what_failed_is_not_drawn(
    program, scan_file: Path, image_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments, **options):
        raise pymluops.MluOpError("no", function="mluOpSomething", status=77)

    for operator in ("get_indice_pairs", "psamask_forward", "border_align_forward", "three_interpolate_forward"):
        monkeypatch.setattr(pymluops, operator, refuse)
    answer = program("demo", "--scan", scan_file, "--image", image_file, "--plot", tmp_path / "plots")
    assert answer.code == 1
    assert answer.out.count("FAILED: status 77: no") == 8
    assert sorted(path.name for path in (tmp_path / "plots").iterdir()) == ["objects.png", "tin_shift.png"]


def test_a_narrow_terminal_gets_the_shapes_on_their_own_line(program, scan_file: Path, image_file: Path) -> None:
    from pymluops.demo.checks import Check
    from pymluops.demo.pipeline import Row
    from pymluops.demo.report import table

    row = Row("tin_shift_forward", "", "float32", {"a": [1, 2], "b": [3]}, {"c": [4, 5]}, 1.25, None, Check(True, True))
    assert table([row], 200).splitlines()[1].split() == [
        "tin_shift_forward", "float32", "1x2", "3", "->", "4x5", "1.250", "-", "exact",
    ]  # fmt: skip
    assert table([row], 60).splitlines()[1:] == [
        "tin_shift_forward        float32  1.250     -  exact",
        "    1x2 3 -> 4x5",
    ]


def test_range_view_of_a_scan_from_its_middle() -> None:
    scan = modelled_scan()
    away = scan.xyz + np.array([500.0, 80.0, 9.0])
    for moved in (scan, replace(scan, xyz=away)):
        image = range_view(moved)
        assert isinstance(image, Image)
        assert image.from_scan
        height, width, channels = image.pixels.shape
        assert (width, channels) == (288, 3)
        assert height >= 48
        assert (image.pixels.max(axis=2) > 0).mean() > 0.6
