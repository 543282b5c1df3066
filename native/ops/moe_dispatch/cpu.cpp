// MoeDispatch on the CPU, in float and in double: rows of values are read and written once.
#include "cpu/nontemporal.h"
#include "ops/moe_dispatch/moe_dispatch.h"

MLUOPS_BEGIN_LEVEL
namespace {

// Long samples are shared among threads in tiles, and looks for interrupts lie between tiles.
constexpr std::int64_t kTile = 1 << 14;
constexpr std::int64_t kValuesPerPiece = 16384;

// The row of a sample, or -1.
inline std::int64_t row_of(const MoeRouting &r, std::int64_t sample) {
  const std::int64_t expert = read_once(r.indices + sample), location = read_once(r.locations + sample);
  const bool there = expert >= 0 && expert < r.experts && location >= 0 && location < r.capacity;
  return there ? expert * r.capacity + location : -1;
}

inline std::int64_t tiles_of(const MoeRouting &r) { return (r.hidden + kTile - 1) / kTile; }

// Calls body(sample, tile, values from, their number) for tiles of samples, shared among threads.
template <typename Body>
void each_tile(const MoeRouting &r, const Body &body) {
  const std::int64_t tiles = tiles_of(r);
  auto run = [&](std::int64_t begin, std::int64_t end) {
    InterruptPoll poll;
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t tile = task % tiles, from = tile * kTile, count = smaller(kTile, r.hidden - from);
      if (poll.interrupted(2 * count + 1)) break;
      body(task / tiles, tile, from, count);
    }
    nontemporal_fence();
  };
  parallel_for(r.samples * tiles, kValuesPerPiece / smaller(r.hidden, kTile) + 1, run);
}

// Rows of samples stand anywhere: brings the first values of one that is read soon to the caches.
template <typename Real>
class Prefetch {
 public:
  Prefetch(const MoeRouting &r, const Real *rows)
      : r_(r), rows_(rows), ahead_(1 + kValues / r.hidden), count_(smaller(kValues, r.hidden)) {}

  void after(std::int64_t sample) const {
    const std::int64_t row = sample + ahead_ < r_.samples ? row_of(r_, sample + ahead_) : -1;
    if (row < 0) return;
    for (std::int64_t i = 0; i < count_; i += kPerLine) __builtin_prefetch(rows_ + row * r_.hidden + i);
  }

 private:
  static constexpr std::int64_t kValues = 2048 / sizeof(Real), kPerLine = kCacheLine / sizeof(Real);
  const MoeRouting &r_;
  const Real *rows_;
  std::int64_t ahead_, count_;
};

// Writes products, or zeros, past the caches where they would not stay there anyway.
template <typename Real>
class Writer {
 public:
  explicit Writer(const MoeRouting &r)
      : nontemporal_(r.samples * r.hidden * static_cast<std::int64_t>(sizeof(Real)) >= streaming_bytes()) {}

  void scaled(Real *to, Real factor, const Real *from, std::int64_t count) const {
    if (!nontemporal_) return multiply(to, factor, from, count);
    alignas(kCacheLine) Real part[kPart];
    for (std::int64_t i = 0; i < count; i += kPart) {
      const std::int64_t number = smaller(kPart, count - i);
      multiply(part, factor, from + i, number);
      copy_nontemporal(to + i, part, static_cast<std::size_t>(number) * sizeof(Real));
    }
  }

  void zeros(Real *to, std::int64_t count) const {
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(Real);
    if (nontemporal_) {
      fill_nontemporal(to, 0, bytes);
    } else {
      std::memset(to, 0, bytes);
    }
  }

 private:
  static constexpr std::int64_t kPart = 2048 / sizeof(Real);

  static void multiply(Real *__restrict to, Real factor, const Real *__restrict from, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = factor * from[i];
  }

  bool nontemporal_;
};

// Finds the rows that samples write: none where a later one writes the same. `seen` has a bit for
// each row.
void find_rows(const MoeRouting &r, std::int32_t *rows, std::uint64_t *seen, std::int64_t words) {
  std::memset(seen, 0, static_cast<std::size_t>(words) * sizeof *seen);
  for_slices(0, r.samples, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t sample = r.samples - 1 - i, row = row_of(r, sample);
      rows[sample] = static_cast<std::int32_t>(row);
      if (row < 0) continue;
      const std::uint64_t bit = std::uint64_t{1} << (row % 64);
      if ((seen[row / 64] & bit) != 0) rows[sample] = -1;
      seen[row / 64] |= bit;
    }
  });
}

template <typename Real>
mluOpStatus_t forward(const MoeDispatchForwardProblem &problem) {
  const MoeRouting &r = problem.routing;
  const std::int64_t words = (r.experts * r.capacity + 63) / 64;
  const Scratch<std::int32_t> rows(r.samples);
  const Scratch<std::uint64_t> seen(words);
  if (rows.data() == nullptr || seen.data() == nullptr) return out_of_memory(problem.function);
  find_rows(r, rows.data(), seen.data(), words);
  if (r.samples > kTile && interrupted()) return MLUOP_STATUS_SUCCESS;  // fewer have all been found
  const Writer<Real> writer(r);
  const Real *const gates = static_cast<const Real *>(problem.gates), *const input =
                                                                          static_cast<const Real *>(problem.input);
  Real *const dispatch = static_cast<Real *>(problem.dispatch);
  each_tile(r, [&](std::int64_t sample, std::int64_t, std::int64_t from, std::int64_t count) {
    const std::int64_t row = rows.data()[sample];
    if (row < 0) return;
    writer.scaled(dispatch + row * r.hidden + from, gates[sample], input + sample * r.hidden + from, count);
  });
  return MLUOP_STATUS_SUCCESS;
}

template <typename Real>
mluOpStatus_t backward_data(const MoeDispatchBackwardDataProblem &problem) {
  const MoeRouting &r = problem.routing;
  const Writer<Real> writer(r);
  const bool any = r.experts > 0 && r.capacity > 0;
  const Real *const gates = static_cast<const Real *>(problem.gates);
  const Real *const rows = static_cast<const Real *>(problem.dispatch);
  const Prefetch<Real> prefetch(r, rows);
  each_tile(r, [&](std::int64_t sample, std::int64_t, std::int64_t from, std::int64_t count) {
    Real *const to = static_cast<Real *>(problem.grad_input) + sample * r.hidden + from;
    const std::int64_t row = any ? row_of(r, sample) : -1;
    if (row < 0) return writer.zeros(to, count);
    prefetch.after(sample);
    writer.scaled(to, gates[sample], rows + row * r.hidden + from, count);
  });
  return MLUOP_STATUS_SUCCESS;
}

// The sum of products, always in the same order.
template <typename Real>
Real dot(const Real *a, const Real *b, std::int64_t count) {
  constexpr int kSums = 32;
  Real sums[kSums] = {};
  std::int64_t i = 0;
  for (; i + kSums <= count; i += kSums) {
    for (int k = 0; k < kSums; ++k) sums[k] += a[i + k] * b[i + k];
  }
  for (int k = 0; i + k < count; ++k) sums[k] += a[i + k] * b[i + k];
  for (int half = kSums / 2; half > 0; half /= 2) {
    for (int k = 0; k < half; ++k) sums[k] += sums[k + half];
  }
  return sums[0];
}

template <typename Real>
mluOpStatus_t backward_gate(const MoeDispatchBackwardGateProblem &problem) {
  const MoeRouting &r = problem.routing;
  Real *const gradient = static_cast<Real *>(problem.grad_gates);
  if (r.experts == 0 || r.capacity == 0 || r.hidden == 0) {
    std::memset(gradient, 0, static_cast<std::size_t>(r.samples) * sizeof(Real));
    return MLUOP_STATUS_SUCCESS;
  }
  const std::int64_t tiles = tiles_of(r);
  const Scratch<Real> memory(tiles > 1 ? r.samples * tiles : 0);
  if (memory.data() == nullptr) return out_of_memory(problem.function);
  Real *const sums = tiles > 1 ? memory.data() : gradient;
  const Real *const input = static_cast<const Real *>(problem.input), *const rows =
                                                                          static_cast<const Real *>(problem.dispatch);
  const Prefetch<Real> prefetch(r, rows);
  each_tile(r, [&](std::int64_t sample, std::int64_t tile, std::int64_t from, std::int64_t count) {
    const std::int64_t row = row_of(r, sample);
    prefetch.after(sample);
    sums[sample * tiles + tile] =
        row < 0 ? Real(0) : dot(rows + row * r.hidden + from, input + sample * r.hidden + from, count);
  });
  for (std::int64_t sample = 0; tiles > 1 && sample < r.samples && !interrupted(); ++sample) {
    gradient[sample] = sums[sample * tiles];
    for (std::int64_t tile = 1; tile < tiles; ++tile) gradient[sample] += sums[sample * tiles + tile];
  }
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t moe_dispatch_forward(const MoeDispatchForwardProblem &problem) {
  return problem.routing.is_double ? forward<double>(problem) : forward<float>(problem);
}

mluOpStatus_t moe_dispatch_backward_data(const MoeDispatchBackwardDataProblem &problem) {
  return problem.routing.is_double ? backward_data<double>(problem) : backward_data<float>(problem);
}

mluOpStatus_t moe_dispatch_backward_gate(const MoeDispatchBackwardGateProblem &problem) {
  return problem.routing.is_double ? backward_gate<double>(problem) : backward_gate<float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_moe_dispatch_forward, moe_dispatch_forward, MoeDispatchForwardProblem,
                          problem.function);
MLUOPS_DEFINE_COLD_LAUNCH(launch_moe_dispatch_backward_data, moe_dispatch_backward_data, MoeDispatchBackwardDataProblem,
                          problem.function);
MLUOPS_DEFINE_COLD_LAUNCH(launch_moe_dispatch_backward_gate, moe_dispatch_backward_gate, MoeDispatchBackwardGateProblem,
                          problem.function);
