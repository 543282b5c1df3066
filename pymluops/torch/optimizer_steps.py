"""AdamW: the optimiser with decoupled weight decay."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from pymluops._core import Operator
from pymluops.ops._described import described
from pymluops.ops._double import double_of
from pymluops.torch._library import follow_threads
from pymluops.torch._modes import untraced

__all__ = ["AdamW"]

#: The steps by the type of the parameters.
_STEPS: dict[torch.dtype, Operator] = {
    torch.float32: described("adam_w"),
    torch.float64: double_of(described("adam_w")),
}
#: Types whose parameters have a copy in float32, which is the one that is learned.
_LOW = (torch.bfloat16, torch.float16)
#: What the state of a parameter has in float32 even if the parameter has not.
_KEPT = ("master", "exp_avg", "exp_avg_sq")


class AdamW(Optimizer):
    """AdamW for parameters on the CPU: each is read and written once in a step.

    For float32 and float64 it is ``torch.optim.AdamW``, and dictionaries of states go from one to
    the other. Parameters of bfloat16 and float16 have a copy in float32, `master`, which learns,
    as do their means; they are that copy rounded. Elements that change between two steps go into
    the copy, except for changes through ``param.data``, which PyTorch does not count.
    ``mluOpAdamW`` makes a step of bfloat16 in one pass. torch.compile leaves steps as they are.

    Parameters
    ----------
    params : iterable
        Parameters, or dictionaries with groups of them.
    lr : float
        The learning rate, >= 0.
    betas : (float, float)
        How much stays of the means of the gradients and of their squares, from 0 to below 1.
    eps : float
        What is added to the root of the mean of the squares, > 0.
    weight_decay : float
        Which part of `lr` parameters lose, >= 0.
    grad_scale : float
        What gradients are divided by, as those of a scaled loss must be.
    need_remove_nan : bool
        Leave an element of a parameter as it is where its new value and its means are all three
        not finite; for float32 and float64.
    foreach, fused : bool, optional
        Accepted as by ``torch.optim.AdamW``, without effect: a step is always one pass.
    amsgrad, maximize, capturable, differentiable : bool
        Arguments of ``torch.optim.AdamW`` that must be False.

    Raises
    ------
    ValueError
        If a number is not as described, also that of a group; or in `step`, if a parameter or
        gradient is not on a CPU, is sparse, or has another type. Then no parameter has changed.

    References
    ----------
    Loshchilov and Hutter: Decoupled Weight Decay Regularization. ICLR 2019, arXiv:1711.05101.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> weight = torch.nn.Parameter(torch.ones(2))
    >>> optimizer = pymluops.torch.AdamW([weight], lr=0.25, weight_decay=0)
    >>> (weight * torch.tensor([3.0, -0.5])).sum().backward()
    >>> optimizer.step()
    >>> weight.tolist()
    [0.75, 1.25]
    """

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        *,
        grad_scale: float = 1.0,
        need_remove_nan: bool = False,
        foreach: bool | None = None,
        fused: bool | None = None,
        amsgrad: bool = False,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        del foreach, fused
        numbers = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "grad_scale": grad_scale}
        off = {"amsgrad": amsgrad, "maximize": maximize, "capturable": capturable, "differentiable": differentiable}
        _check_numbers({**numbers, **off}, tuple(off))
        super().__init__(params, {**numbers, "need_remove_nan": need_remove_nan})

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters with numbers of their own.

        Parameters
        ----------
        param_group : dict
            ``params``, and those of the numbers of `AdamW` that are other ones.
        """
        super().add_param_group(param_group)
        try:
            _check_numbers(self.param_groups[-1])
        except ValueError:
            del self.param_groups[-1]
            raise

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Make a step.

        Parameters
        ----------
        closure : callable, optional
            Computes the loss and its gradients first.

        Returns
        -------
        object
            What `closure` returned.
        """
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        _make_steps(self)
        return loss

    def _update(self, param: Tensor, group: dict[str, Any]) -> None:
        gradient: Any = param.grad
        grad: Tensor = gradient.detach().contiguous()
        state = self._state_of(param)
        state["step"] += 1
        number = int(state["step"])
        values = param.detach()
        target = values if values.is_contiguous() else values.contiguous()
        means = [_packed(state, name) for name in ("exp_avg", "exp_avg_sq")]
        if param.dtype == torch.bfloat16:
            _step_of_bfloat16(_packed(state, "master"), target, means, grad, number, group)
        elif param.dtype == torch.float16:
            master = _packed(state, "master")
            _step(master, means, grad.float(), number, group, False)
            target.copy_(master)
        else:
            _step(target, means, grad, number, group, group["need_remove_nan"])
        if target is not values:
            values.copy_(target)
        torch.autograd.graph.increment_version(param)
        if param.dtype in _LOW:
            self._seen()[param] = _place_of(param)

    def _state_of(self, param: Tensor) -> dict[str, Any]:
        """Return the state of a parameter, in the type that it has now."""
        state: dict[str, Any] = self.state[param]
        low = param.dtype in _LOW
        kind = torch.float32 if low else param.dtype
        if not state:
            state["step"] = torch.zeros(())
            state |= {name: torch.zeros(param.shape, dtype=kind) for name in ("exp_avg", "exp_avg_sq")}
        for name in ("exp_avg", "exp_avg_sq"):
            state[name] = state[name].to(kind)
        if not low:
            state.pop("master", None)
        elif "master" not in state:
            state["master"] = param.detach().to(kind, copy=True, memory_format=torch.contiguous_format)
        elif self._seen().get(param) != _place_of(param):
            _follow(state["master"], param.detach())
        return state

    def _seen(self) -> dict[Tensor, tuple[int, int]]:
        """Return how the last step left parameters; a copy of the optimiser has seen none."""
        seen: dict[Tensor, tuple[int, int]] = self.__dict__.setdefault("_seen_places", {})
        return seen

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a state; copies and means of bfloat16 and float16 parameters stay float32.

        Parameters
        ----------
        state_dict : dict
            What `state_dict` returned, or that of ``torch.optim.AdamW`` for float32 and float64.
        """
        super().load_state_dict(state_dict)
        for saved, group in zip(state_dict["param_groups"], self.param_groups, strict=True):
            for key, default in self.defaults.items():
                group.setdefault(key, default)
            for number, param in zip(saved["params"], group["params"], strict=True):
                given = state_dict["state"].get(number)
                if given is not None and param.dtype in _LOW:
                    found = {name: given.get(name, param) for name in _KEPT}
                    self.state[param] |= {name: one.detach().float().clone() for name, one in found.items()}


@untraced
def _make_steps(optimizer: AdamW) -> None:
    """Update all parameters, after all of them have been looked at."""
    follow_threads()
    with torch.no_grad():
        steps: list[tuple[Tensor, dict[str, Any]]] = []
        for group in optimizer.param_groups:
            _check_numbers(group)
            steps += [(param, group) for param in group["params"] if param.grad is not None and param.numel()]
        for param, group in steps:
            _check(param, group)
        for param, group in steps:
            optimizer._update(param, group)


def _check_numbers(group: Mapping[str, Any], off: tuple[str, ...] = ("amsgrad", "maximize")) -> None:
    """Refuse numbers that are not as the docstring says; what is not there has no influence."""
    held: dict[str, tuple[Callable[[Any], bool], str]] = {
        "lr": (lambda lr: lr >= 0, "at least 0"),
        "betas": (lambda betas: all(0 <= beta < 1 for beta in betas), "two numbers from 0 to below 1"),
        "eps": (lambda eps: eps > 0, "above 0"),
        "weight_decay": (lambda decay: decay >= 0, "at least 0"),
        "grad_scale": (lambda scale: scale < 0 or scale > 0, "other than 0"),
        **dict.fromkeys(off, (lambda given: not given, "False")),
    }
    for name, (holds, expected) in held.items():
        if name in group and not holds(group[name]):
            raise ValueError(f"AdamW: {name}: expected {expected}, got {group[name]}")


def _place_of(param: Tensor) -> tuple[int, int]:
    """Return what becomes another if something writes to a parameter."""
    return param._version, param.data_ptr()


def _follow(master: Tensor, param: Tensor) -> None:
    """Take over the elements of a parameter that are no longer the copy, rounded."""
    changed = master.to(param.dtype) != param
    if changed.any():
        master.copy_(torch.where(changed, param.to(master.dtype), master))


def _check(param: Tensor, group: dict[str, Any]) -> None:
    """Refuse a parameter that a step cannot update."""
    grad: Any = param.grad
    if grad.is_sparse or grad.layout != torch.strided:
        raise ValueError("AdamW: expected gradients that are not sparse, got one that is")
    if param.device.type != "cpu" or param.dtype not in (*_STEPS, *_LOW):
        expected = "parameters of float32, float64, bfloat16 or float16 on the CPU"
        raise ValueError(f"AdamW: expected {expected}, got {param.dtype} on {param.device}")
    if grad.dtype != param.dtype:
        raise ValueError(f"AdamW: expected a gradient of {param.dtype}, got {grad.dtype}")
    if param.dtype in _LOW and group["need_remove_nan"]:
        raise ValueError(f"AdamW: need_remove_nan: expected False with parameters of {param.dtype}, got True")


def _packed(state: dict[str, Any], name: str) -> Tensor:
    """Return a tensor of the state, which a loaded one may hold in another order."""
    if not state[name].is_contiguous():
        state[name] = state[name].contiguous()
    found: Tensor = state[name]
    return found


def _step(param: Tensor, means: list[Tensor], grad: Tensor, number: int, group: dict[str, Any], keeps: bool) -> None:
    arrays = (param.view(-1), *(mean.view(-1) for mean in means), grad.view(-1))
    names = ("lr", "eps", "weight_decay", "grad_scale")
    lr, eps, decay, scale = (float(group[name]) for name in names)
    _STEPS[param.dtype](None, arrays, (number, lr, *group["betas"], eps, decay, scale, keeps))


def _step_of_bfloat16(
    master: Tensor, param: Tensor, means: list[Tensor], grad: Tensor, number: int, group: dict[str, Any]
) -> None:
    from pymluops import functions  # it takes longer than all else here to import

    beta1, beta2 = group["betas"]
    with functions.AdamWDescriptor(float(group["weight_decay"]), float(group["grad_scale"])) as descriptor:
        functions.mluOpAdamW(
            descriptor, master, param, means[0], means[1], grad, float(group["lr"]), beta1, beta2,
            1 - beta1**number, 1 - beta2**number, float(group["eps"]),
        )  # fmt: skip
