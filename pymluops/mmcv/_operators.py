"""Functions of ``mmcv._ext`` for dense tensors, under the names and with the arguments of its bindings.

Tensors are in mmcv's layout, channels first. Results are written into the tensors given, whatever their strides and
whatever they hold; a compiled mmcv adds gradients to tensors that its callers have filled with zeros, which gives the
same. The operators of the library compute float64, float32 and float16, and bfloat16 as float32. All functions raise
RuntimeError for arguments that do not fit, as compiled extensions of PyTorch do.
"""

from __future__ import annotations

from pymluops.mmcv._kernels import run
from pymluops.mmcv._tensors import (
    check_floats,
    check_indices,
    check_int32,
    check_shape,
    check_tensors,
    compute_type,
    dense,
    extension_function,
    refuse,
    write,
)
from pymluops.mmcv._torch import Tensor, load_torch

# ---- tin_shift -------------------------------------------------------------------------------------------------------


@extension_function
def tin_shift_forward(input: Tensor, shift: Tensor, output: Tensor) -> None:
    """Shift groups of channels of input [B, T, C, P] along time by shift [B, G]."""
    dtype = check_floats("tin_shift_forward", input=input, output=output)
    check_int32("tin_shift_forward", shift=shift)
    check_shape("tin_shift_forward", "output", output, input.shape)
    _tin_shift("tin_shift_forward", input, shift, output, dtype)


@extension_function
def tin_shift_backward(grad_output: Tensor, shift: Tensor, grad_input: Tensor) -> None:
    """Shift the gradient like the values: with the same sign, as mmcv does."""
    dtype = check_floats("tin_shift_backward", grad_output=grad_output, grad_input=grad_input)
    check_int32("tin_shift_backward", shift=shift)
    check_shape("tin_shift_backward", "grad_input", grad_input, grad_output.shape)
    _tin_shift("tin_shift_backward", grad_output, shift, grad_input, dtype)


def _tin_shift(function: str, values: Tensor, shift: Tensor, out: Tensor, dtype: Tensor) -> None:
    check_shape(function, "shift", shift, (values.shape[0] if values.ndim else None, None))
    if not out.numel():
        return
    kind = compute_type(dtype)
    write(out, kind, lambda target: run("tin_shift_forward", (dense(values, kind), dense(shift), target)))


# ---- psamask ---------------------------------------------------------------------------------------------------------

# The operators have channels last. Distributing with channels last writes y[n, h2, w2, h*W + w], which is, value for
# value, the memory of what collecting writes with channels first, output[n, h2*W + w2, h, w]; and the other way round.
# So only the masks have to be transposed, if the operator of the other direction is called.


@extension_function
def psamask_forward(
    input: Tensor,
    output: Tensor,
    psa_type: int,
    num_: int,
    h_feature: int,
    w_feature: int,
    h_mask: int,
    w_mask: int,
    half_h_mask: int,
    half_w_mask: int,
) -> None:
    """Spread masks input [N, h_mask*w_mask, H, W] over output [N, H*W, H, W]; psa_type 0 collects, 1 distributes."""
    dtype = check_floats("psamask_forward", input=input, output=output)
    sizes = (num_, h_feature, w_feature, h_mask, w_mask, half_h_mask, half_w_mask)
    _check_psamask("psamask_forward", ("input", input), ("output", output), psa_type, sizes)
    if not output.numel():
        return
    kind = compute_type(dtype, load_torch().float32)
    masks = dense(input.detach().permute(0, 2, 3, 1), kind)

    def compute(target: Tensor) -> None:
        channels_last = target.view(num_, h_feature, w_feature, h_feature * w_feature)
        run("psamask_forward", (masks, channels_last), (1 - psa_type, h_mask, w_mask))

    write(output, kind, compute)


@extension_function
def psamask_backward(
    grad_output: Tensor,
    grad_input: Tensor,
    psa_type: int,
    num_: int,
    h_feature: int,
    w_feature: int,
    h_mask: int,
    w_mask: int,
    half_h_mask: int,
    half_w_mask: int,
) -> None:
    """Gather grad_output [N, H*W, H, W] back into the masks grad_input [N, h_mask*w_mask, H, W]."""
    dtype = check_floats("psamask_backward", grad_output=grad_output, grad_input=grad_input)
    sizes = (num_, h_feature, w_feature, h_mask, w_mask, half_h_mask, half_w_mask)
    _check_psamask("psamask_backward", ("grad_input", grad_input), ("grad_output", grad_output), psa_type, sizes)
    if not grad_input.numel():
        return
    channels_last = (num_, h_feature, w_feature, h_feature * w_feature)
    dy = dense(grad_output, compute_type(dtype, load_torch().float32)).view(channels_last)
    masks = run("psamask_backward", (dy, None), (1 - psa_type, h_mask, w_mask))
    grad_input.detach().copy_(masks.permute(0, 3, 1, 2))


def _check_psamask(
    function: str, masks: tuple[str, Tensor], spread: tuple[str, Tensor], psa_type: int, sizes: tuple[int, ...]
) -> None:
    batch, height, width, h_mask, w_mask, half_h, half_w = sizes
    if psa_type not in (0, 1):
        raise refuse(function, "psa_type", "0 (collect) or 1 (distribute)", psa_type)
    for name, size, half in (("h_mask", h_mask, half_h), ("w_mask", w_mask, half_w)):
        if size < 1:
            raise refuse(function, name, "at least 1", size)
        if half != (size - 1) // 2:
            raise refuse(function, f"half_{name}", f"{(size - 1) // 2} for {name}={size}", half)
    check_shape(function, *masks, (batch, h_mask * w_mask, height, width))
    check_shape(function, *spread, (batch, height * width, height, width))


# ---- border_align ----------------------------------------------------------------------------------------------------


@extension_function
def border_align_forward(input: Tensor, boxes: Tensor, output: Tensor, argmax_idx: Tensor, pool_size: int) -> None:
    """Write the largest samples along borders, and their numbers, to output and argmax_idx [N, C, K, 4]."""
    name = "border_align_forward"
    dtype = check_floats(name, input=input, boxes=boxes, output=output)
    check_int32(name, argmax_idx=argmax_idx)
    _check_border_align(name, ("input", input), boxes, {"output": output, "argmax_idx": argmax_idx}, pool_size)
    if not output.numel():
        return
    kind = compute_type(dtype)
    features = dense(input.detach().permute(0, 2, 3, 1), kind)
    largest, number = run("border_align_forward", (features, dense(boxes, kind), None, None), (pool_size,))
    output.detach().copy_(largest.permute(0, 3, 1, 2))
    argmax_idx.copy_(number.permute(0, 3, 1, 2))


@extension_function
def border_align_backward(
    grad_output: Tensor, boxes: Tensor, argmax_idx: Tensor, grad_input: Tensor, pool_size: int
) -> None:
    """Write the gradient of the features [N, 4*C, H, W] to grad_input."""
    name = "border_align_backward"
    dtype = check_floats(name, grad_output=grad_output, boxes=boxes, grad_input=grad_input)
    check_int32(name, argmax_idx=argmax_idx)
    borders = {"grad_output": grad_output, "argmax_idx": argmax_idx}
    _check_border_align(name, ("grad_input", grad_input), boxes, borders, pool_size)
    if not grad_output.numel():
        grad_input.detach().zero_()
        return
    kind = compute_type(dtype)
    grad = dense(grad_output.detach().permute(0, 2, 3, 1), kind)
    chosen = dense(argmax_idx.permute(0, 2, 3, 1))
    scalars = (pool_size, *grad_input.shape[2:])
    result = run("border_align_backward", (grad, dense(boxes, kind), chosen, None), scalars)
    grad_input.detach().copy_(result.permute(0, 3, 1, 2))


def _check_border_align(
    function: str, features: tuple[str, Tensor], boxes: Tensor, borders: dict[str, Tensor], pool_size: int
) -> None:
    name, tensor = features
    check_shape(function, name, tensor, (None, None, None, None))
    if tensor.shape[1] % 4:
        raise refuse(function, name, "a multiple of 4 channels", tensor.shape[1])
    check_shape(function, "boxes", boxes, (tensor.shape[0], None, 4))
    for name, border in borders.items():
        check_shape(function, name, border, (tensor.shape[0], tensor.shape[1] // 4, boxes.shape[1], 4))
    if pool_size < 1:
        raise refuse(function, "pool_size", "at least 1", pool_size)
    if not tensor.numel() and next(iter(borders.values())).numel():
        raise refuse(function, features[0], "pixels to sample", f"shape {list(tensor.shape)}")


# ---- three_interpolate, three_nn, ball_query -------------------------------------------------------------------------


@extension_function
def three_interpolate_forward(
    points_tensor: Tensor, idx_tensor: Tensor, weight_tensor: Tensor, out_tensor: Tensor, b: int, c: int, m: int, n: int
) -> None:
    """Write to out [b, c, n] the sums over three of points [b, c, m], weighted."""
    name = "three_interpolate_forward"
    floats = {"points_tensor": points_tensor, "weight_tensor": weight_tensor, "out_tensor": out_tensor}
    dtype = check_floats(name, **floats)
    _check_interpolation(name, idx_tensor, weight_tensor, (b, m, n))
    check_shape(name, "points_tensor", points_tensor, (b, c, m))
    check_shape(name, "out_tensor", out_tensor, (b, c, n))
    if not out_tensor.numel():
        return
    kind = compute_type(dtype)
    points, idx, weight = dense(points_tensor, kind), dense(idx_tensor), dense(weight_tensor, kind)
    write(out_tensor, kind, lambda target: run("three_interpolate_forward", (points, idx, weight, target)))


@extension_function
def three_interpolate_backward(
    grad_out_tensor: Tensor,
    idx_tensor: Tensor,
    weight_tensor: Tensor,
    grad_points_tensor: Tensor,
    b: int,
    c: int,
    n: int,
    m: int,
) -> None:
    """Write to grad_points [b, c, m] what grad_out [b, c, n] sends to each point."""
    name = "three_interpolate_backward"
    floats = {"grad_out_tensor": grad_out_tensor, "weight_tensor": weight_tensor}
    dtype = check_floats(name, **floats, grad_points_tensor=grad_points_tensor)
    _check_interpolation(name, idx_tensor, weight_tensor, (b, m, n))
    check_shape(name, "grad_out_tensor", grad_out_tensor, (b, c, n))
    check_shape(name, "grad_points_tensor", grad_points_tensor, (b, c, m))
    if not (grad_out_tensor.numel() and grad_points_tensor.numel()):
        grad_points_tensor.detach().zero_()
        return
    kind = compute_type(dtype)
    grad, idx, weight = dense(grad_out_tensor, kind), dense(idx_tensor), dense(weight_tensor, kind)

    def compute(target: Tensor) -> None:
        run("three_interpolate_backward", (grad, idx, weight, target), (m,))

    write(grad_points_tensor, kind, compute)


def _check_interpolation(function: str, idx: Tensor, weight: Tensor, sizes: tuple[int, int, int]) -> None:
    batch, points, count = sizes
    check_int32(function, idx_tensor=idx)
    check_shape(function, "idx_tensor", idx, (batch, count, 3))
    check_shape(function, "weight_tensor", weight, (batch, count, 3))
    check_indices(function, "idx_tensor", idx, points)


@extension_function
def three_nn_forward(
    unknown_tensor: Tensor, known_tensor: Tensor, dist2_tensor: Tensor, idx_tensor: Tensor, b: int, n: int, m: int
) -> None:
    """Write squared distances and numbers of the three nearest of known [b, m, 3] to dist2 and idx [b, n, 3]."""
    name = "three_nn_forward"
    points = {"unknown_tensor": unknown_tensor, "known_tensor": known_tensor}
    dtype = check_floats(name, **points, dist2_tensor=dist2_tensor)
    check_int32(name, idx_tensor=idx_tensor)
    check_shape(name, "known_tensor", known_tensor, (b, m, 3))
    for argument, tensor in (
        ("unknown_tensor", unknown_tensor),
        ("dist2_tensor", dist2_tensor),
        ("idx_tensor", idx_tensor),
    ):
        check_shape(name, argument, tensor, (b, n, 3))
    if not idx_tensor.numel():
        return
    kind = compute_type(dtype)
    dist2, idx = run("three_nn_forward", (dense(unknown_tensor, kind), dense(known_tensor, kind), None, None))
    dist2_tensor.detach().copy_(dist2)
    idx_tensor.copy_(idx)


@extension_function
def ball_query_forward(
    new_xyz_tensor: Tensor,
    xyz_tensor: Tensor,
    idx_tensor: Tensor,
    b: int,
    n: int,
    m: int,
    min_radius: float,
    max_radius: float,
    nsample: int,
) -> None:
    """Write to idx [b, m, nsample] the first points of xyz [b, n, 3] in the shell around each of new_xyz [b, m, 3]."""
    name = "ball_query_forward"
    check_floats(name, new_xyz_tensor=new_xyz_tensor, xyz_tensor=xyz_tensor)
    check_int32(name, idx_tensor=idx_tensor)
    check_shape(name, "new_xyz_tensor", new_xyz_tensor, (b, m, 3))
    check_shape(name, "xyz_tensor", xyz_tensor, (b, n, 3))
    check_shape(name, "idx_tensor", idx_tensor, (b, m, nsample))
    for argument, radius in (("min_radius", min_radius), ("max_radius", max_radius)):
        _check_radius(name, argument, radius)
    _ball_query(new_xyz_tensor, xyz_tensor, min_radius, max_radius, idx_tensor)


@extension_function
def stack_ball_query_forward(
    new_xyz_tensor: Tensor,
    new_xyz_batch_cnt: Tensor,
    xyz_tensor: Tensor,
    xyz_batch_cnt: Tensor,
    idx_tensor: Tensor,
    max_radius: float,
    nsample: int,
) -> None:
    """Query each batch of a stack; idx [sum of M, nsample] counts from the first point of the batch, -1 is no point."""
    name = "stack_ball_query_forward"
    check_floats(name, new_xyz_tensor=new_xyz_tensor, xyz_tensor=xyz_tensor)
    counts = {"new_xyz_batch_cnt": new_xyz_batch_cnt, "xyz_batch_cnt": xyz_batch_cnt}
    check_int32(name, **counts, idx_tensor=idx_tensor)
    check_shape(name, "new_xyz_batch_cnt", new_xyz_batch_cnt, (None,))
    check_shape(name, "xyz_batch_cnt", xyz_batch_cnt, (new_xyz_batch_cnt.shape[0],))
    check_shape(name, "new_xyz_tensor", new_xyz_tensor, (int(new_xyz_batch_cnt.sum()), 3))
    check_shape(name, "xyz_tensor", xyz_tensor, (int(xyz_batch_cnt.sum()), 3))
    check_shape(name, "idx_tensor", idx_tensor, (new_xyz_tensor.shape[0], nsample))
    for argument, count in counts.items():
        if bool((count < 0).any()):
            raise refuse(name, argument, "numbers of points", count.tolist())
    _check_radius(name, "max_radius", max_radius)
    if not (nsample and len(idx_tensor)):
        return
    idx_tensor[:, 0] = -1  # stays where there is no point
    centre = point = 0
    for centres, points in zip(new_xyz_batch_cnt.tolist(), xyz_batch_cnt.tolist(), strict=True):
        rows, places = slice(centre, centre + centres), slice(point, point + points)
        _ball_query(new_xyz_tensor[None, rows], xyz_tensor[None, places], 0, max_radius, idx_tensor[None, rows])
        centre, point = rows.stop, places.stop


def _check_radius(function: str, argument: str, radius: float) -> None:
    if not radius >= 0:
        raise refuse(function, argument, "a number of at least 0", radius)


def _ball_query(new_xyz: Tensor, xyz: Tensor, min_radius: float, max_radius: float, idx: Tensor) -> None:
    if not (idx.numel() and xyz.numel()):
        return
    kind = compute_type(new_xyz.dtype)
    centres, points, scalars = dense(new_xyz, kind), dense(xyz, kind), (min_radius, max_radius, idx.shape[2])
    write(idx, load_torch().int32, lambda target: run("ball_query", (centres, points, target), scalars))


# ---- ms_deform_attn --------------------------------------------------------------------------------------------------


@extension_function
def ms_deform_attn_forward(
    value: Tensor,
    value_spatial_shapes: Tensor,
    value_level_start_index: Tensor,
    sampling_locations: Tensor,
    attention_weights: Tensor,
    im2col_step: int,
) -> Tensor:
    """Return the weighted sums of samples, [B, Q, M*C]."""
    name = "ms_deform_attn_forward"
    floats = {"value": value, "sampling_locations": sampling_locations, "attention_weights": attention_weights}
    dtype = check_floats(name, **floats)
    _check_attention(name, floats, value_spatial_shapes, value_level_start_index, im2col_step)
    batch, _, heads, channels = value.shape
    shape = (batch, sampling_locations.shape[1], heads * channels)
    if not (attention_weights.numel() and value.numel()):
        return value.new_zeros(shape)
    inputs = _attention_inputs(floats, value_spatial_shapes, value_level_start_index)
    result = run("ms_deform_attn_forward", (*inputs, None), (batch,))
    # Not a view: PyTorch refuses in-place operations on a view that an autograd function returns.
    return result.resize_(shape).to(dtype)


@extension_function
def ms_deform_attn_backward(
    value: Tensor,
    value_spatial_shapes: Tensor,
    value_level_start_index: Tensor,
    sampling_locations: Tensor,
    attention_weights: Tensor,
    grad_output: Tensor,
    grad_value: Tensor,
    grad_sampling_loc: Tensor,
    grad_attn_weight: Tensor,
    im2col_step: int,
) -> None:
    """Write the gradients of value, sampling_locations and attention_weights; grad_output is [B, Q, M*C]."""
    name = "ms_deform_attn_backward"
    floats = {"value": value, "sampling_locations": sampling_locations, "attention_weights": attention_weights}
    gradients = {
        "grad_value": grad_value,
        "grad_sampling_loc": grad_sampling_loc,
        "grad_attn_weight": grad_attn_weight,
    }
    check_floats(name, **floats, grad_output=grad_output, **gradients)
    _check_attention(name, floats, value_spatial_shapes, value_level_start_index, im2col_step)
    for (argument, gradient), like in zip(gradients.items(), floats.values(), strict=True):
        check_shape(name, argument, gradient, like.shape)
    batch, _, heads, channels = value.shape
    queries = sampling_locations.shape[1]
    if grad_output.numel() != batch * queries * heads * channels or grad_output.shape[:2] != (batch, queries):
        expected = f"shape [{batch}, {queries}, {heads * channels}]"
        raise refuse(name, "grad_output", expected, list(grad_output.shape))
    if not (attention_weights.numel() and value.numel()):
        for gradient in gradients.values():
            gradient.detach().zero_()
        return
    inputs = _attention_inputs(floats, value_spatial_shapes, value_level_start_index)
    grad = dense(grad_output, inputs[0].dtype).view(batch, queries, heads, channels)
    results = run("ms_deform_attn_backward", (*inputs, grad, None, None, None), (batch,))
    for gradient, result in zip(gradients.values(), results, strict=True):
        gradient.detach().copy_(result)


def _attention_inputs(floats: dict[str, Tensor], shapes: Tensor, starts: Tensor) -> tuple[Tensor, ...]:
    """Return the inputs in the types that the operator takes."""
    torch = load_torch()
    kind = compute_type(next(iter(floats.values())).dtype, torch.float32)
    value, locations, weights = (dense(tensor, kind) for tensor in floats.values())
    return value, dense(shapes, torch.int32), dense(starts, torch.int32), locations, weights


def _check_attention(
    function: str, floats: dict[str, Tensor], shapes: Tensor, starts: Tensor, im2col_step: int
) -> None:
    """Check what does not depend on the direction."""
    value, locations, weights = floats.values()
    check_shape(function, "value", value, (None, None, None, None))
    batch, keys, heads, _ = value.shape
    check_tensors(function, ("int64", "int32"), {"value_spatial_shapes": shapes, "value_level_start_index": starts})
    check_shape(function, "value_spatial_shapes", shapes, (None, 2))
    levels = shapes.shape[0]
    check_shape(function, "value_level_start_index", starts, (levels,))
    check_shape(function, "sampling_locations", locations, (batch, None, heads, levels, None, 2))
    check_shape(function, "attention_weights", weights, locations.shape[:-1])
    step = min(batch, im2col_step)
    if batch and (step < 1 or batch % step):
        raise refuse(function, "im2col_step", f"at least {batch}, or a divisor of it", im2col_step)
    for (height, width), start in zip(shapes.tolist(), starts.tolist(), strict=True):
        if min(height, width, start) < 0 or start + height * width > keys:
            place = f"a map of {height} x {width} that begins at key {start}"
            raise refuse(function, "value_spatial_shapes", f"maps within the {keys} keys of value", place)
