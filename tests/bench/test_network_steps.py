"""The comparison of the example networks' training steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from benchmarks.problem import WrongResultError
from support.example import MOVING

torch: Any = pytest.importorskip("torch")
ops: Any = pytest.importorskip("pymluops.torch")
pytest.importorskip("matplotlib")
steps: Any = pytest.importorskip("benchmarks.network_steps")
NETWORKS = [
    name if name == "tin" else pytest.param(name, marks=pytest.mark.thorough) for name in steps.NETWORKS
]  # fmt: skip


@pytest.fixture(autouse=True)
def few_steps(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(steps, "_TRIALS", 1)
    monkeypatch.setattr(steps, "_ROUNDS", 1)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def tin(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The example of the shifts with one short clip of noise; others that import it meanwhile get the same."""
    with steps.examples() as load:
        example = load("tin")
        monkeypatch.setattr(example, "BATCH", 1)
        monkeypatch.setattr(example, "FRAMES", 4)
        monkeypatch.setattr(example, "make_clip", lambda rng, frames: rng.random((frames, 10, 12), np.float32))
        yield example


@pytest.fixture
def training(tin: Any) -> Any:
    return steps.Training(tin)


@pytest.mark.usefixtures("tin")
@pytest.mark.parametrize("name", NETWORKS)
def test_losses_agree_and_the_table_has_a_row(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with steps.examples() as load:
        monkeypatch.setattr(load(name), "KEPT", 8, raising=False)  # pictures, of those that have some
        assert steps.main(["--network", name, "--seconds", "0", "--threads", "1"]) == 0
    _, head, row = capsys.readouterr().out.splitlines()
    cells = row.replace(" %", "%").split()
    assert head.split()[:6] == ["network", "ms", "PyTorch", "ratio", "operators", "limit"]
    assert cells[0] == name and all(float(cell) > 0 for cell in (*cells[1:4], *cells[6:9]))
    # Shares are rounded to whole percents.
    assert all(0 <= float(cell.removesuffix("%")) <= 100 for cell in (cells[4], cells[9])), row
    assert float(cells[5]) <= float(cells[3]) and float(cells[10]) <= float(cells[8])


def test_ratios_are_our_time_by_theirs(training: Any) -> None:
    shift = MOVING.in_torch(ops)

    now = [0.0]

    def slow(clips: Any, shifts: Any, **options: Any) -> Any:
        now[0] += 1000
        return shift(clips, shifts)

    def clock() -> float:
        now[0] += 1
        return now[0]

    figures = steps.measure(training, {MOVING.family: slow}, 0.0, clock)
    assert 0 < figures.ratio < 0.5 and figures.theirs > figures.ours
    assert steps.Figures(10.0, 20.0, 0.5, 0.2).limit == pytest.approx(0.4)


def test_wrong_outputs_and_wrong_gradients_are_found(training: Any) -> None:
    shift = MOVING.in_torch(ops)

    def outputs(clips: Any, shifts: Any, **options: Any) -> Any:
        return shift(clips, shifts) + 0.1

    def gradient(clips: Any, shifts: Any, **options: Any) -> Any:
        return shift(clips.detach(), shifts)

    steps.check("x", training, {MOVING.family: shift})
    with pytest.raises(WrongResultError, match="x: the loss is"):
        steps.check("x", training, {MOVING.family: outputs})
    with pytest.raises(WrongResultError, match="x: gradients differ"):
        steps.check("x", training, {MOVING.family: gradient})


def test_swapped_operators_come_back(training: Any) -> None:
    called: list[str] = []

    def mine(*arguments: Any, **options: Any) -> Any:
        called.append(MOVING.family)
        raise KeyError

    before = MOVING.in_torch(ops)
    with pytest.raises(KeyError):
        training.losses({MOVING.family: mine})
    assert called and MOVING.in_torch(ops) is before
    assert training.losses({})[0] > 0
