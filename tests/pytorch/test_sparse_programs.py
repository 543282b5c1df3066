"""Sparse networks that PyTorch traces, exports, compiles or watches compute for inputs other than the example."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")
sparse = pytest.importorskip("pymluops.torch.sparse")
nn = torch.nn

SPACE = [6, 7, 8]


class Network(nn.Module):
    """Layers of every kind with normalisation, or sub-manifold ones alone, whose rows are those of the input."""

    def __init__(self, every_kind: bool) -> None:
        super().__init__()
        layers: list[nn.Module] = [
            sparse.SubMConv3d(3, 8, 3, indice_key="fine"), nn.BatchNorm1d(8), nn.ReLU(inplace=True),
            sparse.SubMConv3d(8, 8, 3, indice_key="fine"), sparse.SparseMaxPool(3, 3, subm=True),
            sparse.SubMConv3d(8, 8, 3, groups=8, indice_key="fine"), sparse.SparseAvgPool(3, 3, subm=True),
        ]  # fmt: skip
        if every_kind:
            layers += [
                sparse.SparseConv3d(8, 8, 3, 2, 1, indice_key="down"), nn.BatchNorm1d(8), nn.ReLU(),
                sparse.SparseInverseConv3d(8, 4, 3, indice_key="down"), sparse.SparseConvTranspose3d(4, 4, 3, 2, 1),
                sparse.SparseMaxPool3d(3, 1, 1, true_maximum=True), sparse.SubMConv3d(4, 4, 1, groups=2),
                sparse.SparseConvTranspose3d(4, 4, 1, groups=4, output_padding=0), sparse.SparseAvgPool3d(3, 1, 1),
            ]  # fmt: skip
        self.layers = sparse.SparseSequential(*layers, sparse.ToDense())

    def forward(self, features: Any, indices: Any) -> Any:
        return self.layers(sparse.SparseConvTensor(features, indices, SPACE, 2))


def _scene(rows: int, seed: int, dtype: Any = torch.int32) -> tuple[Any, Any]:
    generator = torch.Generator().manual_seed(seed)
    places = torch.randperm(2 * 6 * 7 * 8, generator=generator)[:rows]
    indices = torch.stack([places // 336, places // 56 % 6, places // 8 % 7, places % 8], 1)
    return torch.randn(rows, 3, generator=generator), indices.to(dtype)


EXAMPLE, OTHER, SAME_SIZE = _scene(40, 1), _scene(50, 2), _scene(40, 3)
KINDS = pytest.mark.parametrize("every_kind", [False, True])


def _network(every_kind: bool, train: bool = False) -> Network:
    torch.manual_seed(0)
    return Network(every_kind).train(train)


def _assert_follows(program: Callable[..., Any], network: Network, *scenes: tuple[Any, Any]) -> None:
    with torch.no_grad():
        for scene in scenes:
            torch.testing.assert_close(program(*scene), network(*scene), rtol=1e-5, atol=1e-5)


@KINDS
@pytest.mark.parametrize("gradients", [False, True])
@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_jit_trace(every_kind: bool, gradients: bool, dtype: Any) -> None:
    network = _network(every_kind)
    with warnings.catch_warnings(), torch.set_grad_enabled(gradients):
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        warnings.filterwarnings("ignore", message=".*torch.jit.*deprecated")
        traced = torch.jit.trace(network, _scene(40, 1, dtype))
        file = io.BytesIO()
        torch.jit.save(traced, file)
        file.seek(0)
        loaded = torch.jit.load(file)
    for program in (traced, loaded):
        _assert_follows(program, network, _scene(50, 2, dtype), _scene(30, 4, dtype))


def test_a_traced_network_has_gradients() -> None:
    network = _network(True)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*torch.jit.*deprecated")
        traced = torch.jit.trace(network, EXAMPLE)
    found = torch.autograd.grad(traced(*OTHER).square().sum(), list(traced.parameters()))
    wanted = torch.autograd.grad(network(*OTHER).square().sum(), list(network.parameters()))
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-4)


@KINDS
def test_make_fx(every_kind: bool) -> None:
    from torch.fx.experimental.proxy_tensor import make_fx

    network = _network(every_kind)
    with torch.no_grad():
        program = make_fx(network, tracing_mode="symbolic", _allow_non_fake_inputs=True)(*EXAMPLE)
        _assert_follows(program, network, OTHER)
        if not every_kind:  # sizes are constants there
            _assert_follows(make_fx(network)(*EXAMPLE), network, SAME_SIZE)


@KINDS
def test_export(every_kind: bool) -> None:
    network = _network(every_kind)
    rows = {0: torch.export.Dim("rows", min=2, max=10000)}
    exported = torch.export.export(network, EXAMPLE, dynamic_shapes=(rows, rows))
    file = io.BytesIO()
    torch.export.save(exported, file)
    file.seek(0)
    for program in (exported, torch.export.load(file)):
        _assert_follows(program.module(), network, OTHER, SAME_SIZE)
    with pytest.raises(ValueError, match="at row 0"):
        exported.module()(OTHER[0], OTHER[1] + 100)


@KINDS
@pytest.mark.parametrize("train", [False, True])
def test_compile_without_graph_breaks(every_kind: bool, train: bool) -> None:
    torch._dynamo.reset()
    network, plain = _network(every_kind, train), _network(every_kind, train)
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        compiled = torch.compile(network, fullgraph=True, backend="aot_eager")
        for scene in (EXAMPLE, OTHER):
            found, wanted = compiled(*scene), plain(*scene)
            torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-5)
            got = torch.autograd.grad(found.square().sum(), list(network.parameters()))
            want = torch.autograd.grad(wanted.square().sum(), list(plain.parameters()))
            torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-4)


def test_compile_with_graph_breaks() -> None:
    torch._dynamo.reset()
    network = _network(True)
    _assert_follows(torch.compile(network, backend="aot_eager"), network, EXAMPLE, OTHER)


@KINDS
def test_transforms_of_functions(every_kind: bool) -> None:
    network = _network(every_kind)
    parameters = dict(network.named_parameters())

    def loss(values: dict[str, Any]) -> Any:
        return torch.func.functional_call(network, values, OTHER).square().sum()

    found = torch.func.grad(loss)(parameters)
    wanted = torch.autograd.grad(loss(parameters), list(parameters.values()))
    torch.testing.assert_close(tuple(found.values()), wanted, rtol=1e-5, atol=1e-5)


def test_fake_tensors_and_meta_tensors_have_shapes() -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    for every_kind, shape in ((False, (2, 8, *SPACE)), (True, (2, 4, 11, 13, 15))):
        network = _network(every_kind)
        env = ShapeEnv(allow_dynamic_output_shape_ops=True)
        with FakeTensorMode(shape_env=env, allow_non_fake_inputs=True) as mode:
            out = network(*(mode.from_tensor(tensor) for tensor in OTHER))
        assert tuple(out.shape) == shape
    meta = _network(False).to("meta")
    out = meta(*(tensor.to("meta") for tensor in OTHER))
    assert (out.device.type, tuple(out.shape)) == ("meta", (2, 8, *SPACE))
    with pytest.raises(RuntimeError, match=r"sparse_pairs.*data-dependent shape"):
        _network(True).to("meta")(*(tensor.to("meta") for tensor in OTHER))


@KINDS
def test_modes_see_the_operators(every_kind: bool) -> None:
    from torch.utils._python_dispatch import TorchDispatchMode

    seen: set[str] = set()

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.add(str(func))
            return func(*args, **(kwargs or {}))

    network = _network(every_kind)
    with Watch():
        _assert_follows(network, network, OTHER)
    names = {"sparse_places", "sparse_subm_pairs", "sparse_outputs", "sparse_max_pool"}
    names |= {"sparse_pairs"} if every_kind else set()
    assert {f"pymluops.{name}.default" for name in names} <= seen


@pytest.mark.parametrize("name", ["sparse_pairs", "sparse_subm_pairs", "sparse_max_pool", "sparse_outputs"])
def test_registrations(name: str) -> None:
    features, indices = _scene(20, 5)
    ones = [1, 1, 1]
    pairs, num = torch.ops.pymluops.sparse_subm_pairs(indices, 2, SPACE, [3, 3, 3], ones)
    features.requires_grad_()
    samples = {
        "sparse_pairs": (indices, 2, SPACE, [3, 3, 3], ones, ones, ones, SPACE, False),
        "sparse_subm_pairs": (indices, 2, SPACE, [3, 3, 3], ones),
        "sparse_max_pool": (features, pairs, num, 20),
        "sparse_outputs": (features, torch.randn(27, 3, 4, requires_grad=True), pairs, num, 0, 20),
    }
    torch.library.opcheck(getattr(torch.ops.pymluops, name).default, samples[name])
