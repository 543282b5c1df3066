"""Networks of mmdet and mmdet3d alike: built from a config in the package, trained for a step, asked for results."""

from __future__ import annotations

import copy
import importlib.util
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import torch
from mmengine.config import Config
from mmengine.registry import init_default_scope

import pymluops
import pymluops.mmcv
from pymluops.cli import CommandError


def install() -> None:
    """Put the operators of pymluops into the place of mmcv's extension, before mmdet or mmdet3d is imported."""
    pymluops.mmcv.install()
    if importlib.util.find_spec("spconv"):
        # mmdet3d takes spconv where it is installed, whose build for the CPU cannot train.
        pymluops.install("spconv", force=True)


class Built(Protocol):
    """An object that has a network."""

    @property
    def model(self) -> torch.nn.Module:
        """The network."""


def find_config(configs: Path, name: str, known: dict[str, str]) -> Path:
    """Return the file of a config in a folder: a name of a known network, or of a file, with or without suffix."""
    name = known.get(name, name)
    found = sorted(configs.glob(f"*/{Path(name).stem if name.endswith('.py') else Path(name).name}.py"))
    if not found:
        package = configs.parents[1].name
        raise CommandError(f"{name}: {package} has no such config; it has, among others, {', '.join(known.values())}")
    return found[0]


def build(scope: str, registry: Any, config: Config, seed: int) -> Any:
    """Build the network of a config with weights of this seed, in place of pretrained ones."""
    init_default_scope(scope)
    _strip_pretrained(config.model)
    torch.manual_seed(seed)
    previous = logging.root.manager.disable
    logging.disable(logging.INFO)  # it tells of every parameter
    try:
        model: Any = registry.build(copy.deepcopy(config.model))
        model.init_weights()
    finally:
        logging.disable(previous)
    return model


def _strip_pretrained(model: Any) -> None:
    """Take the addresses of weights out, which are not in the package."""
    if isinstance(model, dict):
        model.pop("pretrained", None)
        if isinstance(model.get("init_cfg"), dict) and model["init_cfg"].get("type") == "Pretrained":
            del model["init_cfg"]
        for value in model.values():
            _strip_pretrained(value)
    elif isinstance(model, (list, tuple)):
        for value in model:
            _strip_pretrained(value)


def loss(network: Built, data: dict[str, Any]) -> torch.Tensor:
    """Return the sum of the losses of a batch, in training mode."""
    model: Any = network.model
    model.train()
    losses = model(**model.data_preprocessor(copy.deepcopy(data), True), mode="loss")
    total: torch.Tensor = model.parse_losses(losses)[0]
    return total


def train(network: Built, data: dict[str, Any], steps: int, rate: float = 1e-3) -> Iterator[float]:
    """Train with the same batch again and again, and yield the loss of each step.

    Batch normalisation keeps the statistics of the last steps: with the momentum of 0.01 that some
    configs have, those that a prediction takes would be far from the batch after some dozen steps.
    """
    for layer in network.model.modules():
        if isinstance(layer, torch.nn.modules.batchnorm._BatchNorm) and layer.momentum is not None:
            layer.momentum = max(layer.momentum, 0.3)
    optimizer = torch.optim.AdamW(network.model.parameters(), lr=rate, weight_decay=0.01)
    for _ in range(steps):
        optimizer.zero_grad()
        total = loss(network, data)
        total.backward()
        torch.nn.utils.clip_grad_norm_(network.model.parameters(), 10)
        optimizer.step()
        yield float(total)


def predict(network: Built, data: dict[str, Any]) -> list[Any]:
    """Return a sample for each item, with what the network finds."""
    model: Any = network.model
    model.eval()
    with torch.no_grad():
        return list(model.test_step(copy.deepcopy(data)))
