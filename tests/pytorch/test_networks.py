"""The example networks learn, draw what they learned, take the user's own files, and give the same bits again."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import pymluops

FOLDER = Path(__file__).parents[2] / "examples" / "networks"
#: Steps of the shortened training, and which file each network takes.
NETWORKS = {
    "pointnet2": (16, "scan"),
    "second": (10, "scan"),
    "psanet": (24, "image"),
    "borderdet": (36, "image"),
    "tin": (10, "clip"),
    "deformable_detr": (10, "image"),
}
SHARED = ("scenes", "training")


Main = Callable[[list[str]], tuple[list[float], torch.nn.Module]]


def some(*quick: str) -> list[Any]:
    """All networks; those that are not named run with --thorough only."""
    return [name if name in quick else pytest.param(name, marks=pytest.mark.thorough) for name in NETWORKS]


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Import a script or what the scripts share, as Python does that runs one of them."""
    monkeypatch.syspath_prepend(FOLDER)
    yield importlib.import_module
    for name in (*NETWORKS, *SHARED):
        sys.modules.pop(name, None)


def check_picture(path: Path) -> None:
    image = pytest.importorskip("matplotlib.image")
    pixels = image.imread(path)
    assert pixels.shape[0] > 400 and pixels.shape[1] > 1200
    assert np.unique(pixels[..., :3].reshape(-1, 3), axis=0).shape[0] > 100  # something is drawn


def own_file(kind: str, folder: Path) -> Path:
    rng = np.random.default_rng(1)
    if kind == "scan":
        xyz = rng.uniform(-30, 30, (3000, 3)) * [1, 1, 0.1]
        np.save(folder / "own.npy", np.column_stack([xyz, rng.random(3000)]).astype(np.float32))
    elif kind == "image":
        np.save(folder / "own.npy", rng.random((40, 60, 3)))
    else:
        np.save(folder / "own.npy", rng.integers(0, 256, (12, 30, 50, 3), dtype=np.uint8))
    return folder / "own.npy"


def test_every_script_is_tested() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} == {*NETWORKS, *SHARED}


@pytest.mark.parametrize("name", NETWORKS)
def test_loss_falls_and_a_picture_is_drawn(name: str, load: Any, tmp_path: Path, capsys: Any) -> None:
    steps, _ = NETWORKS[name]
    losses, _ = load(name).main(["--steps", str(steps), "--plot", str(tmp_path / "new" / "shown.png")])
    assert len(losses) == steps and np.isfinite(losses).all()
    assert np.mean(losses[-3:]) < 0.85 * np.mean(losses[:3])
    check_picture(tmp_path / "new" / "shown.png")
    assert f"loss {losses[0]:.4f} -> {losses[-1]:.4f}" in capsys.readouterr().out


@pytest.mark.thorough
@pytest.mark.parametrize("name", NETWORKS)
def test_whole_training_halves_the_loss(name: str, load: Any, tmp_path: Path) -> None:
    losses, _ = load(name).main(["--plot", str(tmp_path / "shown.png")])
    assert losses[-1] <= losses[0] / 2


@pytest.mark.parametrize("name", some("pointnet2", "borderdet", "tin"))
def test_own_file(name: str, load: Any, tmp_path: Path) -> None:
    _, kind = NETWORKS[name]
    arguments = [f"--{kind}", str(own_file(kind, tmp_path)), "--steps", "2", "--plot", str(tmp_path / "shown.png")]
    losses, _ = load(name).main(arguments)
    assert np.isfinite(losses).all()
    check_picture(tmp_path / "shown.png")


def trained(main: Main, folder: Path, steps: int, *arguments: str) -> dict[str, np.ndarray]:
    _, network = main(["--steps", str(steps), "--plot", str(folder / "shown.png"), *arguments])
    return {name: value.numpy().copy() for name, value in network.state_dict().items()}


@pytest.mark.parametrize("name", some("second", "deformable_detr"))
def test_weights_are_the_same_bits_with_any_number_of_threads(name: str, load: Any, tmp_path: Path) -> None:
    main = load(name).main
    before = torch.get_num_threads(), pymluops.get_num_threads()
    first = trained(main, tmp_path, 3, "--threads", "1")
    torch.set_num_threads(3)
    try:
        again = trained(main, tmp_path, 3, "--threads", "3")
    finally:
        torch.set_num_threads(before[0])
    other = trained(main, tmp_path, 1, "--seed", "1")
    assert [*first] == [*again]
    assert all(first[key].tobytes() == again[key].tobytes() for key in first)
    assert any(first[key].tobytes() != other[key].tobytes() for key in first)
    assert (torch.get_num_threads(), pymluops.get_num_threads()) == before


@pytest.mark.parametrize(
    ("name", "shape", "problem"),
    [
        ("tin", (3, 8, 8), "has 3 frames; expected at least 9"),
        ("tin", (9, 8), "is float64 of shape [9, 8]"),
        ("psanet", (3, 3), "too small"),
        ("second", (5, 2), "expected [points, 3 or more columns]"),
    ],
)
def test_unusable_file_is_one_line(
    name: str, shape: tuple[int, ...], problem: str, load: Any, tmp_path: Path, capsys: Any
) -> None:
    np.save(tmp_path / "own.npy", np.zeros(shape))
    _, kind = NETWORKS[name]
    with pytest.raises(SystemExit) as stopped:
        load("training").program(lambda: load(name).main([f"--{kind}", str(tmp_path / "own.npy")]))
    errors = capsys.readouterr().err
    assert stopped.value.code == 2
    assert problem in errors and len(errors.splitlines()) == 1


def test_clips_of_pillow(load: Any, tmp_path: Path) -> None:
    pillow = pytest.importorskip("PIL.Image")
    frames = [pillow.fromarray(np.full((20, 30), 20 * i, np.uint8)) for i in range(10)]
    frames[0].save(tmp_path / "clip.gif", save_all=True, append_images=frames[1:])
    clip = load("scenes").read_clip(tmp_path / "clip.gif")
    assert clip.shape == (10, 40, 40) and clip.dtype == np.float32
    np.testing.assert_allclose(clip[:, 5, 5], np.arange(10) / 9, atol=0.02)
    (tmp_path / "broken.gif").write_bytes(b"GIF89a")
    with pytest.raises(Exception, match=r"broken\.gif: cannot be read as a clip"):
        load("scenes").read_clip(tmp_path / "broken.gif")
