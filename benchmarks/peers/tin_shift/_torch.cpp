// tin_shift as custom operators of PyTorch, for tiny arrays.

#include "torch_tensors.h"

namespace {

namespace tin_shift {

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

}  // namespace tin_shift

}  // namespace

TORCH_LIBRARY_FRAGMENT(pymluops_bench, m) {
  m.def("tin_shift_forward(Tensor x, Tensor shifts, Tensor(a!) out) -> ()");
  m.def("tin_shift_backward(Tensor x, Tensor shifts, Tensor(a!) out) -> ()");
}

TORCH_LIBRARY_IMPL(pymluops_bench, CPU, m) {
  m.impl("tin_shift_forward", tin_shift::tin_shift);
  m.impl("tin_shift_backward", tin_shift::tin_shift);
}
