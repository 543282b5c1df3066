"""The network of examples/networks/second.py, trained by two processes with PyTorch's DistributedDataParallel.

    python3 examples/engines/ddp_second.py
    torchrun --nproc-per-node 2 examples/engines/ddp_second.py

Each process takes its part of every batch. Batch normalisation and the loss look at the whole
batch, so the processes compute what one process computes for it, but for the order of sums; in
float64, so that it stays so. At the end one process trains alone, with the same seed and the same
batches, and the losses are compared.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.parallel import DistributedDataParallel

import pymluops
from pymluops.cli import CommandError

sys.path.append(str(Path(__file__).resolve().parents[1] / "networks"))

import second
from second import BATCH, RATE
from training import arguments, program, reproducible, save, train

PROCESSES = 2
TOLERANCE = 1e-6
"""Largest relative difference of two losses: sums of float64 in another order, which training makes larger."""


class Sum(torch.autograd.Function):
    """The sum of a tensor over all processes."""

    @staticmethod
    def forward(ctx: object, values: Tensor) -> Tensor:
        total = values.clone()
        dist.all_reduce(total)
        return total

    @staticmethod
    def backward(ctx: object, gradient: Tensor) -> Tensor:
        return Sum.apply(gradient)


class SharedBatchNorm(_BatchNorm):
    """Batch normalisation over the batches of all processes; PyTorch's SyncBatchNorm has no code for the CPU."""

    def _check_input_dim(self, input: Tensor) -> None:
        """Any number of dims will do."""

    def forward(self, input: Tensor) -> Tensor:
        if not self.training:
            return super().forward(input)
        rows = input.movedim(1, -1).flatten(0, -2)
        count = rows.new_full((1,), len(rows))
        total = Sum.apply(torch.cat([rows.sum(0), count]))
        count, mean = total[-1].detach(), total[:-1] / total[-1]
        variance = Sum.apply((rows - mean).square().sum(0)) / count
        with torch.no_grad():
            self.num_batches_tracked.add_(1)
            self.running_mean.lerp_(mean, self.momentum)
            self.running_var.lerp_(variance * count / (count - 1), self.momentum)
        shape = (1, -1, *[1] * (input.ndim - 2))
        scale = self.weight / (variance + self.eps).sqrt()
        return input * scale.view(shape) + (self.bias - mean * scale).view(shape)


def share_batch_norm(module: nn.Module) -> nn.Module:
    """Put `SharedBatchNorm` in place of every batch normalisation in `module`."""
    for name, child in module.named_children():
        if isinstance(child, _BatchNorm):
            shared = SharedBatchNorm(child.num_features, child.eps, child.momentum, dtype=child.weight.dtype)
            shared.load_state_dict(child.state_dict())
            setattr(module, name, shared)
        else:
            share_batch_norm(child)
    return module


def train_part(args: argparse.Namespace) -> tuple[list[float], dict[str, Tensor]]:
    """Train on this process's part of each batch: all of it where there is one process. Return losses and weights."""
    rank, count = (dist.get_rank(), dist.get_world_size()) if dist.is_initialized() else (0, 1)
    if count > BATCH:
        raise CommandError(f"expected at most {BATCH} processes, one for each scan of a batch, got {count}")
    if count > 1 and args.threads is None:
        args.threads = max(1, pymluops.get_num_threads() // count)
    with reproducible(args) as rng:
        streets, title = second.make_streets(rng, args.data)
        # In float32 sums in another order differ in the seventh digit, and a hundred steps of Adam
        # make that visible.
        voxels = [
            (features.astype(np.float64), places)
            for features, places in (second.voxelise(street.xyz) for street in streets)
        ]
        wanted = torch.from_numpy(np.stack([second.targets(street.cars) for street in streets])).double()
        plain: nn.Module = second.Backbone().double()
        network = plain if count == 1 else DistributedDataParallel(share_batch_norm(plain))

        def loss(step: int) -> Tensor:
            chosen = rng.choice(len(streets) - 1, BATCH, replace=False)  # the same in every process
            own = chosen[rank::count]
            error, centres = second.error_of(network([voxels[i] for i in own]), wanted[torch.from_numpy(own)])
            if count > 1:
                dist.all_reduce(centres)
            return count * error / centres  # of which DistributedDataParallel averages the gradients

        with quiet(rank > 0):
            losses = train(network, loss, args.steps, RATE)
        if count > 1:
            both = torch.tensor(losses, dtype=torch.float64)
            dist.all_reduce(both)
            losses = (both / count).tolist()
        if rank == 0 and count > 1:
            save(second.draw(plain, streets[-1], losses, f"{title}, trained by {count} processes"), args.plot)
        return losses, {name: value.clone() for name, value in plain.state_dict().items()}


@contextlib.contextmanager
def quiet(wanted: bool) -> Iterator[None]:
    """Write nothing to the terminal, if `wanted`: the first process does it for all."""
    with contextlib.ExitStack() as stack:
        if wanted:
            nowhere = stack.enter_context(open(os.devnull, "w", encoding="utf-8"))
            stack.enter_context(contextlib.redirect_stdout(nowhere))
            stack.enter_context(contextlib.redirect_stderr(nowhere))
        yield


def process(rank: int, args: argparse.Namespace, folder: str) -> None:
    """Train as one of the processes that this script starts itself."""
    dist.init_process_group("gloo", f"file://{folder}/store", rank=rank, world_size=PROCESSES)
    try:
        result = train_part(args)
        if rank == 0:
            torch.save(result, f"{folder}/result.pt")
    finally:
        dist.destroy_process_group()


def train_together(args: argparse.Namespace) -> tuple[list[float], dict[str, Tensor]]:
    """Train with the processes of torchrun, or with two of our own."""
    if "RANK" in os.environ:
        dist.init_process_group("gloo")
        try:
            return train_part(args)
        finally:
            dist.destroy_process_group()
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(process, (args, folder), nprocs=PROCESSES)
        return torch.load(f"{folder}/result.pt")


def main(argv: Sequence[str] | None = None) -> tuple[list[float], list[float] | None]:
    flag = ("--no-check", "do not train with one process afterwards")
    args = arguments(__doc__, "ddp_second", "scan", 60, argv, flag)
    together, weights = train_together(args)
    if args.no_check or int(os.environ.get("RANK", "0")) != 0:
        return together, None
    print("one process, with the same batches:")
    alone, own_weights = train_part(args)
    apart = max(abs(a - b) / abs(b) for a, b in zip(together, alone, strict=True))
    differ = max(float((weights[name] - value).abs().max()) for name, value in own_weights.items())
    print(f"losses differ by at most {apart:.1e} (relative), weights by {differ:.1e}")
    if apart > TOLERANCE:
        sys.exit(f"ddp_second.py: the losses differ by more than {TOLERANCE}")
    return together, alone


if __name__ == "__main__":
    program(main)
