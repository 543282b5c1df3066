"""``python3 -m benchmarks`` from the command line to its output."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from benchmarks import overhead, torch_overhead
from benchmarks.coordinates import uniform_sites
from support.example import CHOOSING, MOVING, MOVING_BACK, PAIRING

Bench = Callable[..., tuple[int, str, str]]

QUICK = ("--quick", "--seconds", "0.02", "--peers", "numpy")
TINY = ("--filter", f"{MOVING.family}_*/1x6x6x1/f32")


def test_cases_can_be_listed(bench: Bench) -> None:
    code, out, _ = bench("--list", "--filter", "1x6x6x1")
    assert code == 0
    assert out.splitlines() == [
        f"{one.name}/1x6x6x1/{dtype}" for one in (MOVING, MOVING_BACK) for dtype in ("f32", "f16")
    ]


def test_a_table_is_printed(bench: Bench) -> None:
    code, out, _ = bench(*QUICK, *TINY)
    assert code == 0
    assert f"{MOVING.name}/1x6x6x1/f32" in out
    assert "numpy (slices)" in out
    assert "rules hold" in out


def test_results_are_json_and_can_be_loaded_compared_and_drawn(bench: Bench, tmp_path: Path) -> None:
    file, folder = tmp_path / "results.json", tmp_path / "pictures"
    code, out, _ = bench(*QUICK, *TINY, "--threads", "1,2", "--json", "--output", file)
    assert code == 0
    document = json.loads(out)
    assert document == json.loads(file.read_text())
    assert document["settings"]["threads"] == [1, 2]
    assert [case["id"] for case in document["cases"]] == [
        f"{MOVING.name}/1x6x6x1/f32",
        f"{MOVING_BACK.name}/1x6x6x1/f32",
    ]
    code, out, _ = bench("--load", file, "--compare", file, "--plot", folder)
    assert code == 0
    assert "0 slower, 0 faster, 4 same" in out
    assert (folder / "ratio-documents.png").read_bytes()[:4] == b"\x89PNG"

    for case in document["cases"]:
        for ratio in case["ratios"]:
            for name in ("median", "of_least"):
                ratio[name] /= 2
    file.with_name("faster.json").write_text(json.dumps(document))
    code, out, _ = bench("--load", file, "--compare", file.with_name("faster.json"))
    assert code == 1
    assert f"slower: {MOVING.name}/1x6x6x1/f32, 1 threads" in out


def test_sizes_are_measured_and_drawn(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.sizes.QUICK_SIZES", (1000, 10000))
    code, out, _ = bench(
        "--sizes", "--quick", "--seconds", "0.02", "--filter", CHOOSING.name, "--json", "--plot", tmp_path
    )
    assert code == 0
    found = json.loads(out)["sizes"]
    assert [entry["operator"] for entry in found] == [
        f"{CHOOSING.name}/{mode}" for mode in ("collect", "distribute") for _ in "12"
    ]
    assert (tmp_path / "time-against-size.png").exists()
    file = tmp_path / "sizes.json"
    file.write_text(out)
    assert f"{CHOOSING.name}/distribute" in bench("--load", file)[1]


def test_overhead_is_measured(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overhead, "_CALLS", 20)
    monkeypatch.setattr(torch_overhead, "_CALLS", 2)
    monkeypatch.setattr("benchmarks.overhead_builds.torch_operators", lambda folder, notes: notes.append("no compiler"))
    monkeypatch.setattr("benchmarks.overhead_builds.empty_function", lambda folder, notes: None)
    code, out, _ = bench("--overhead", "--quick")
    assert code == 0
    for call in overhead.tiny_calls():
        assert call.operator in out
    assert "no compiler" in out
    assert (f"torch.{MOVING.family}" in out) != ("torch is missing" in out)


def test_strict_makes_a_missed_rule_a_failure(bench: Bench, tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    bench(*QUICK, *TINY, "--output", file)
    document = json.loads(file.read_text())
    document["verdicts"] = [{"case": "x", "threads": 2, "rule": "r", "found": 2.0, "limit": 1.0, "holds": False}]
    file.write_text(json.dumps(document))
    assert bench("--load", file)[0] == 0
    assert bench("--load", file, "--strict")[0] == 1


@pytest.mark.parametrize(("arguments", "part"), [
    (("--filter", "no such case"), "no case matches no such case"),
    (("--group", "none"), "--group: expected limits, documents, more"),
    (("--threads", "0"), "expected numbers from 1"),
    (("--threads", "2,x"), "expected numbers from 1"),
    (("--seconds", "nan"), "above 0"),
    (("--peers", "cupy"), "--peers: expected numpy"),
    (("--load", "/nothing/there.json"), "/nothing/there.json"),
    (("--list", "--frobnicate"), "unrecognized arguments"),
])  # fmt: skip
def test_bad_arguments_are_one_line(bench: Bench, arguments: tuple[str, ...], part: str) -> None:
    code, out, err = bench(*arguments)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert part in err


@pytest.mark.parametrize("text", ["", "[]", '{"schema": 99}', "{"])
def test_a_file_that_holds_no_results_is_refused(bench: Bench, tmp_path: Path, text: str) -> None:
    file = tmp_path / "results.json"
    file.write_text(text)
    code, out, err = bench("--load", file)
    assert (code, out) == (2, "")
    assert str(file) in err


def test_results_that_cannot_be_written_are_refused(bench: Bench, tmp_path: Path) -> None:
    code, _, err = bench(*QUICK, *TINY, "--output", tmp_path / "nowhere" / "results.json")
    assert code == 2
    assert "--output" in err


def test_the_whole_process_script() -> None:
    from benchmarks import whole_process

    sites = uniform_sites(5000, 2, (9, 40, 40), np.random.default_rng(2))
    found = whole_process.measure(sites, 2, (9, 40, 40))
    pairs = PAIRING.run(sites, batch_size=2, spatial_shape=(9, 40, 40), kernel_size=3, padding=1, subm=True)
    assert found["pairs"] == pairs.indice_num.sum()
    assert found["output_bytes"] == sum(array.nbytes for array in pairs)
    assert 0 < found["call_seconds"] <= found["seconds"]
    assert found["bytes_above_input"] > found["output_bytes"]
