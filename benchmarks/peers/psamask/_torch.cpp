// psamask as custom operators of PyTorch, for tiny arrays.

#include "torch_tensors.h"

namespace {

namespace psamask {

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

}  // namespace psamask

}  // namespace

TORCH_LIBRARY_FRAGMENT(pymluops_bench, m) {
  m.def("psamask_forward(Tensor x, int psa_type, int mask_size, Tensor(a!) out) -> ()");
  m.def("psamask_backward(Tensor dy, int psa_type, int mask_size, Tensor(a!) out) -> ()");
}

TORCH_LIBRARY_IMPL(pymluops_bench, CPU, m) {
  m.impl("psamask_forward", psamask::psamask_forward);
  m.impl("psamask_backward", psamask::psamask_backward);
}
