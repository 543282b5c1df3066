// The operators as custom operators of PyTorch, for tiny arrays: arguments checked, loops written plainly, outputs given.

#include <torch/library.h>

#include <ATen/core/Tensor.h>
#include <algorithm>
#include <cmath>

namespace {

using at::Tensor;

void check(const Tensor &t, at::ScalarType type, int64_t dims) {
  TORCH_CHECK(t.scalar_type() == type && t.dim() == dims && t.is_contiguous(), "an argument has a wrong type or shape");
}

const float *floats(const Tensor &t, int64_t dims) {
  check(t, at::kFloat, dims);
  return t.const_data_ptr<float>();
}

const int *ints(const Tensor &t, int64_t dims) {
  check(t, at::kInt, dims);
  return t.const_data_ptr<int>();
}

float *output(const Tensor &t, at::IntArrayRef shape) {
  TORCH_CHECK(t.scalar_type() == at::kFloat && t.sizes() == shape && t.is_contiguous(), "the output is wrong");
  return t.mutable_data_ptr<float>();
}

void tin_shift(const Tensor &x, const Tensor &shifts, const Tensor &out) {
  const float *in = floats(x, 4);
  const int *shift = ints(shifts, 2);
  int64_t B = x.size(0), T = x.size(1), C = x.size(2), P = x.size(3), G = shifts.size(1);
  TORCH_CHECK(shifts.size(0) == B && G > 0 && C % G == 0, "shifts are wrong");
  float *y = output(out, x.sizes());
  for (int64_t b = 0; b < B; ++b)
    for (int64_t t = 0; t < T; ++t)
      for (int64_t c = 0; c < C; ++c) {
        int64_t from = t - shift[b * G + c / (C / G)];
        float *to = y + ((b * T + t) * C + c) * P;
        if (from >= 0 && from < T)
          std::copy_n(in + ((b * T + from) * C + c) * P, P, to);
        else
          std::fill_n(to, P, 0.0f);
      }
}

void psamask(const Tensor &source, const Tensor &out, int64_t type, int64_t M, bool forward) {
  const float *in = floats(source, 4);
  int64_t N = source.size(0), H = source.size(1), W = source.size(2), reach = (M - 1) >> 1;
  TORCH_CHECK(M > 0 && (type == 0 || type == 1), "psa_type or mask_size is wrong");
  TORCH_CHECK(source.size(3) == (forward ? M * M : H * W), "the channels are wrong");
  float *to = output(out, {N, H, W, forward ? H * W : M * M});
  std::fill_n(to, out.numel(), 0.0f);
  for (int64_t n = 0; n < N; ++n)
    for (int64_t h = 0; h < H; ++h)
      for (int64_t w = 0; w < W; ++w)
        for (int64_t i = std::max<int64_t>(0, reach - h); i < std::min(M, H + reach - h); ++i)
          for (int64_t j = std::max<int64_t>(0, reach - w); j < std::min(M, W + reach - w); ++j) {
            int64_t here = h * W + w, there = (i + h - reach) * W + j + w - reach;
            int64_t cell = ((n * H * W + here) * M + i) * M + j;
            int64_t place = (n * H * W + (type == 0 ? here : there)) * H * W + (type == 0 ? there : here);
            if (forward)
              to[place] = in[cell];
            else
              to[cell] = in[place];
          }
}

void psamask_forward(const Tensor &x, int64_t type, int64_t mask, const Tensor &out) {
  psamask(x, out, type, mask, true);
}

void psamask_backward(const Tensor &dy, int64_t type, int64_t mask, const Tensor &out) {
  psamask(dy, out, type, mask, false);
}

void check_indices(const int *index, int64_t count, int64_t M) {
  for (int64_t i = 0; i < count; ++i) TORCH_CHECK(index[i] >= 0 && index[i] < M, "an index is out of range");
}

void three_interpolate_forward(const Tensor &x, const Tensor &indices, const Tensor &weights, const Tensor &out) {
  const float *in = floats(x, 3), *w = floats(weights, 3);
  const int *index = ints(indices, 3);
  int64_t B = x.size(0), C = x.size(1), M = x.size(2), N = indices.size(1);
  TORCH_CHECK(indices.sizes() == weights.sizes() && indices.size(0) == B && indices.size(2) == 3, "indices are wrong");
  check_indices(index, indices.numel(), M);
  float *y = output(out, {B, C, N});
  for (int64_t b = 0; b < B; ++b)
    for (int64_t c = 0; c < C; ++c)
      for (int64_t n = 0; n < N; ++n) {
        float sum = 0;
        for (int64_t i = 0; i < 3; ++i)
          sum += w[(b * N + n) * 3 + i] * in[(b * C + c) * M + index[(b * N + n) * 3 + i]];
        y[(b * C + c) * N + n] = sum;
      }
}

void three_interpolate_backward(const Tensor &g, const Tensor &indices, const Tensor &weights, int64_t M,
                                const Tensor &out) {
  const float *in = floats(g, 3), *w = floats(weights, 3);
  const int *index = ints(indices, 3);
  int64_t B = g.size(0), C = g.size(1), N = g.size(2);
  TORCH_CHECK(indices.sizes() == weights.sizes() && indices.size(0) == B && indices.size(2) == 3, "indices are wrong");
  check_indices(index, indices.numel(), M);
  float *y = output(out, {B, C, M});
  std::fill_n(y, out.numel(), 0.0f);
  for (int64_t b = 0; b < B; ++b)
    for (int64_t c = 0; c < C; ++c)
      for (int64_t n = 0; n < N; ++n)
        for (int64_t i = 0; i < 3; ++i)
          y[(b * C + c) * M + index[(b * N + n) * 3 + i]] += w[(b * N + n) * 3 + i] * in[(b * C + c) * N + n];
}

struct Sample {
  int64_t pixel[4];
  float weight[4];
};

Sample sample(float x, float y, int64_t H, int64_t W) {
  Sample s{};
  if (!(y >= -1 && y <= H && x >= -1 && x <= W)) return s;
  x = std::max(x, 0.0f), y = std::max(y, 0.0f);
  int64_t l = std::min<int64_t>(static_cast<int64_t>(x), W - 1), t = std::min<int64_t>(static_cast<int64_t>(y), H - 1);
  int64_t r = std::min(l + 1, W - 1), d = std::min(t + 1, H - 1);
  float lx = l == W - 1 ? 0 : x - l, ly = t == H - 1 ? 0 : y - t;
  int64_t pixels[4] = {t * W + l, t * W + r, d * W + l, d * W + r};
  float weights[4] = {(1 - ly) * (1 - lx), (1 - ly) * lx, ly * (1 - lx), ly * lx};
  std::copy_n(pixels, 4, s.pixel);
  std::copy_n(weights, 4, s.weight);
  return s;
}

Sample border_sample(const float *box, int64_t e, int64_t i, int64_t pool, int64_t H, int64_t W) {
  float sx = (box[2] - box[0]) / pool, sy = (box[3] - box[1]) / pool;
  float x = e < 2 ? box[0] : box[2], y = e < 2 ? box[1] : box[3], sign = e < 2 ? 1 : -1;
  return sample(x + (e % 2 == 0 ? sign * sx * i : 0), y + (e % 2 == 1 ? sign * sy * i : 0), H, W);
}

void border_align_forward(const Tensor &x, const Tensor &boxes, int64_t pool, const Tensor &out, const Tensor &argmax) {
  const float *in = floats(x, 4), *box = floats(boxes, 3);
  int64_t N = x.size(0), H = x.size(1), W = x.size(2), C = x.size(3) / 4, K = boxes.size(1);
  TORCH_CHECK(x.size(3) % 4 == 0 && boxes.size(0) == N && boxes.size(2) == 4 && pool > 0, "boxes are wrong");
  float *y = output(out, {N, K, 4, C});
  check(argmax, at::kInt, 4);
  TORCH_CHECK(argmax.sizes() == out.sizes(), "argmax_idx is wrong");
  int *where = argmax.mutable_data_ptr<int>();
  for (int64_t b = 0; b < N * K; ++b)
    for (int64_t e = 0; e < 4; ++e)
      for (int64_t i = 0; i <= pool; ++i) {
        Sample s = border_sample(box + b * 4, e, i, pool, H, W);
        for (int64_t c = 0; c < C; ++c) {
          float value = 0;
          for (int64_t j = 0; j < 4; ++j) value += s.weight[j] * in[(b / K * H * W + s.pixel[j]) * 4 * C + e * C + c];
          int64_t at = (b * 4 + e) * C + c;
          if (i == 0 || value > y[at]) y[at] = value, where[at] = static_cast<int>(i);
        }
      }
}

void border_align_backward(const Tensor &g, const Tensor &boxes, const Tensor &argmax, int64_t pool,
                           at::IntArrayRef size, const Tensor &out) {
  const float *in = floats(g, 4), *box = floats(boxes, 3);
  const int *where = ints(argmax, 4);
  TORCH_CHECK(size.size() == 2 && g.sizes() == argmax.sizes() && boxes.size(1) == g.size(1) && pool > 0,
              "sizes differ");
  int64_t N = g.size(0), K = g.size(1), C = g.size(3), H = size[0], W = size[1];
  float *y = output(out, {N, H, W, 4 * C});
  std::fill_n(y, out.numel(), 0.0f);
  for (int64_t b = 0; b < N * K; ++b)
    for (int64_t e = 0; e < 4; ++e)
      for (int64_t c = 0; c < C; ++c) {
        int64_t at = (b * 4 + e) * C + c;
        if (where[at] < 0 || where[at] > pool) continue;
        Sample s = border_sample(box + b * 4, e, where[at], pool, H, W);
        for (int64_t j = 0; j < 4; ++j) y[(b / K * H * W + s.pixel[j]) * 4 * C + e * C + c] += s.weight[j] * in[at];
      }
}

}  // namespace

TORCH_LIBRARY(pymluops_bench, m) {
  m.def("tin_shift_forward(Tensor x, Tensor shifts, Tensor(a!) out) -> ()");
  m.def("tin_shift_backward(Tensor x, Tensor shifts, Tensor(a!) out) -> ()");
  m.def("psamask_forward(Tensor x, int psa_type, int mask_size, Tensor(a!) out) -> ()");
  m.def("psamask_backward(Tensor dy, int psa_type, int mask_size, Tensor(a!) out) -> ()");
  m.def("three_interpolate_forward(Tensor x, Tensor indices, Tensor weights, Tensor(a!) out) -> ()");
  m.def("three_interpolate_backward(Tensor g, Tensor indices, Tensor weights, int m, Tensor(a!) out) -> ()");
  m.def("border_align_forward(Tensor x, Tensor boxes, int pool, Tensor(a!) out, Tensor(b!) argmax) -> ()");
  m.def("border_align_backward(Tensor g, Tensor boxes, Tensor argmax, int pool, int[] size, Tensor(a!) out) -> ()");
}

TORCH_LIBRARY_IMPL(pymluops_bench, CPU, m) {
  m.impl("tin_shift_forward", tin_shift);
  m.impl("tin_shift_backward", tin_shift);
  m.impl("psamask_forward", psamask_forward);
  m.impl("psamask_backward", psamask_backward);
  m.impl("three_interpolate_forward", three_interpolate_forward);
  m.impl("three_interpolate_backward", three_interpolate_backward);
  m.impl("border_align_forward", border_align_forward);
  m.impl("border_align_backward", border_align_backward);
}
