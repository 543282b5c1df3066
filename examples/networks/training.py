"""What the example networks share: arguments, seeds and threads, training with a progress bar, pictures."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import matplotlib as mpl
import numpy as np
import torch
from matplotlib.figure import Figure
from torch import Tensor, nn

import pymluops
import pymluops.torch as ops
from pymluops._whole_file import whole_file
from pymluops.cli import CommandError
from pymluops.demo.errors import InputError

INPUTS = {
    "scan": "LiDAR or depth-camera scan (.bin, .npy, .ply) to use instead of modelled streets",
    "image": "picture to put the shapes on instead of made backgrounds",
    "clip": "clip to learn from: an animated GIF, PNG or WebP, or .npy of shape [frames, height, width(, channels)]",
}


def arguments(
    description: str | None, name: str, kind: str, steps: int, argv: Sequence[str] | None, *flags: tuple[str, str]
) -> argparse.Namespace:
    """Read the arguments; the user's own file comes as `args.data`, None if none is given.

    `flags` are options without a value: their names and what they do.
    """
    parser = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    parser.add_argument(f"--{kind}", dest="data", type=Path, metavar="FILE", help=INPUTS[kind])
    parser.add_argument("--steps", type=_count, default=steps, help="training steps (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="seed of data and weights (default: %(default)s)")
    parser.add_argument("--threads", type=_count, help="threads of the operators; the weights do not depend on it")
    parser.add_argument("--plot", type=Path, metavar="FILE", default=Path(f"{name}.png"), help="default: %(default)s")
    for flag, does in flags:
        parser.add_argument(flag, action="store_true", help=does)
    args = parser.parse_args(argv)
    if args.plot.suffix.lower() != ".png":
        parser.error(f"--plot: expected a name that ends in .png, got {str(args.plot)!r}")
    return args


def _count(text: str) -> int:
    if not 1 <= (number := int(text)) <= 1024 * 1024:
        raise argparse.ArgumentTypeError(f"expected a positive number, got {text}")
    return number


@contextmanager
def reproducible(args: argparse.Namespace) -> Iterator[np.random.Generator]:
    """Train with the same bits whatever the number of threads, and give the generator of the data.

    PyTorch splits its own sums by its number of threads, so it gets one. The operators of pymluops
    get all of them: their results do not depend on it.
    """
    threads, own = torch.get_num_threads(), pymluops.get_num_threads()
    torch.set_num_threads(1)
    ops.tin_shift(torch.zeros(1, 1, 1, 1), torch.zeros(1, 1, dtype=torch.int32))  # takes PyTorch's new number over
    pymluops.set_num_threads(min(args.threads or own, 1024))
    strict = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(args.seed)
            yield np.random.default_rng(args.seed)
    finally:
        torch.use_deterministic_algorithms(strict)
        torch.set_num_threads(threads)
        pymluops.set_num_threads(own)


def train(network: nn.Module, loss_of_step: Callable[[int], Tensor], steps: int, rate: float) -> list[float]:
    """Train with Adam, the rate falling to zero along a half cosine; show progress, print and return the losses."""
    optimizer = torch.optim.Adam(network.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    network.train()
    losses: list[float] = []
    begin = time.perf_counter()
    for step in range(steps):
        optimizer.zero_grad()
        loss = loss_of_step(step)
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(float(loss.detach()))
        if step % max(1, steps // 10) == 0 or step == steps - 1:
            _bar("")
            print(f"step {step + 1:4d} of {steps}   loss {losses[-1]:.4f}", flush=True)
        _bar(_progress(step + 1, steps, losses[-1], time.perf_counter() - begin))
    _bar("")
    print(f"loss {losses[0]:.4f} -> {losses[-1]:.4f} in {time.perf_counter() - begin:.1f} s")
    network.eval()
    return losses


def _progress(done: int, steps: int, loss: float, seconds: float) -> str:
    filled = 30 * done // steps
    left = seconds / done * (steps - done)
    return f"[{'#' * filled}{'.' * (30 - filled)}] {done}/{steps}  loss {loss:.4f}  {left:.0f} s left"


def _bar(text: str) -> None:
    """Show the line on the terminal in place of the one before; nothing if stderr is no terminal."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K" + text)
        sys.stderr.flush()


def new_figure(title: str, width: float, height: float) -> Figure:
    """Return an empty figure; no display is touched."""
    figure = Figure(figsize=(width, height), layout="constrained")
    figure.suptitle(title, fontsize=13)
    return figure


def draw_losses(axes: mpl.axes.Axes, losses: Sequence[float]) -> None:
    """Draw the falling loss."""
    axes.plot(range(1, len(losses) + 1), losses, color="tab:blue", linewidth=1)
    axes.set(xlabel="step", ylabel="loss", title=f"loss {losses[0]:.3f} to {losses[-1]:.3f}", ylim=(0, None))
    axes.grid(alpha=0.3)


def save(figure: Figure, path: Path) -> None:
    """Write the picture, as a whole or not at all."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as file:
            figure.savefig(file, dpi=110)
    except OSError as error:
        raise InputError(path, f"cannot be written: {error.strerror or error}") from error
    print(f"picture: {path}")


def program(main: Callable[[], object]) -> None:
    """Run `main`; a file that cannot be used is one line on stderr and exit code 2."""
    try:
        main()
    except CommandError as error:
        print(f"{Path(sys.argv[0]).name}: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
