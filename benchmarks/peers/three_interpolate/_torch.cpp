// three_interpolate as custom operators of PyTorch, for tiny arrays.

#include "torch_tensors.h"

namespace {

namespace three_interpolate {

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

}  // namespace three_interpolate

}  // namespace

TORCH_LIBRARY_FRAGMENT(pymluops_bench, m) {
  m.def("three_interpolate_forward(Tensor x, Tensor indices, Tensor weights, Tensor(a!) out) -> ()");
  m.def("three_interpolate_backward(Tensor g, Tensor indices, Tensor weights, int m, Tensor(a!) out) -> ()");
}

TORCH_LIBRARY_IMPL(pymluops_bench, CPU, m) {
  m.impl("three_interpolate_forward", three_interpolate::three_interpolate_forward);
  m.impl("three_interpolate_backward", three_interpolate::three_interpolate_backward);
}
