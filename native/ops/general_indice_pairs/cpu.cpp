// General indice pairs on the CPU: sorts all places that are reached, and looks up the place of
// each pair. Simple rather than fast: common convolutions go through GetIndicePairs.
#include "ops/general_indice_pairs/cpu_places.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr const char *kFunction = "mluopsExtGetIndicePairs";

class GeneralPairs {
 public:
  explicit GeneralPairs(const GeneralPairsProblem &problem)
      : p_(problem), width_(problem.geometry.axes + 1), sender_(problem.geometry) {}

  mluOpStatus_t run() const {
    // A copy: the rows may change during the call.
    const Scratch<std::int32_t> rows(p_.rows * width_);
    const Scratch<std::int64_t> starts(p_.cells + 1);
    if (rows.data() == nullptr || starts.data() == nullptr) return out_of_memory(kFunction);
    read_rows(rows.data());
    if (interrupted() || p_.outcome->bad_row >= 0) return MLUOP_STATUS_SUCCESS;
    const std::int64_t sent = p_.geometry.sub_m ? p_.rows : count_sent(rows.data(), starts.data());
    if (interrupted()) return MLUOP_STATUS_SUCCESS;
    const Scratch<Site> sites(sent), spare(sent);
    if (sites.data() == nullptr || spare.data() == nullptr) return out_of_memory(kFunction);
    list_sites(rows.data(), starts.data(), sites.data());
    if (interrupted() || !sort_sites(sites.data(), spare.data(), sent)) return MLUOP_STATUS_SUCCESS;
    const std::int64_t count = keep_first(sites.data(), sent);
    p_.outcome->rows_out = p_.geometry.sub_m ? p_.rows : count;
    p_.outcome->fits = p_.outcome->rows_out <= p_.out_rows;
    if (p_.outcome->fits) write(rows.data(), sites.data(), count);
    return MLUOP_STATUS_SUCCESS;
  }

 private:
  void read_rows(std::int32_t *rows) const {
    InterruptPoll poll;
    for (std::int64_t l = 0; l < p_.rows && !poll.interrupted(width_); ++l) {
      for (std::int64_t i = l * width_; i < (l + 1) * width_; ++i) rows[i] = read_once(p_.indices + i);
      if (!sender_.inside(rows + l * width_)) {
        p_.outcome->bad_row = l;
        return;
      }
    }
  }

  // Calls body(row, place) for each row that a cell sends to a place.
  template <typename Body>
  void each_sent(const std::int32_t *rows, std::int64_t cell, const Body &body) const {
    InterruptPoll poll;
    for (std::int64_t l = 0; l < p_.rows && !poll.interrupted(8 * width_); ++l) {
      const std::int64_t place = sender_.target(rows + l * width_, cell);
      if (place >= 0) body(l, place);
    }
  }

  // Sets starts[k] to the number of pairs of the cells before k; returns the number of all pairs.
  std::int64_t count_sent(const std::int32_t *rows, std::int64_t *starts) const {
    auto count = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t cell = begin; cell < end; ++cell) {
        std::int64_t number = 0;
        each_sent(rows, cell, [&](std::int64_t, std::int64_t) { ++number; });
        starts[cell + 1] = number;
      }
    };
    starts[0] = 0;
    parallel_for(p_.cells, 1, count);
    for (std::int64_t cell = 0; cell < p_.cells; ++cell) starts[cell + 1] += starts[cell];
    return starts[p_.cells];
  }

  // Lists the sites for lookups: the rows' own in sub-manifold mode, else all that are reached.
  void list_sites(const std::int32_t *rows, const std::int64_t *starts, Site *sites) const {
    if (p_.geometry.sub_m) {
      for_slices(0, p_.rows, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t l = begin; l < end; ++l)
          sites[l] = Site{sender_.own(rows + l * width_), static_cast<std::int32_t>(l)};
      });
      return;
    }
    auto list = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t cell = begin; cell < end; ++cell) {
        Site *next = sites + starts[cell];
        each_sent(rows, cell, [&](std::int64_t, std::int64_t place) { *next++ = Site{place, 0}; });
      }
    };
    parallel_for(p_.cells, 1, list);
  }

  void write(const std::int32_t *rows, const Site *sites, std::int64_t count) const {
    auto write_cells = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t cell = begin; cell < end; ++cell) write_cell(rows, sites, count, cell);
    };
    parallel_for(p_.cells, 1, write_cells);
    if (interrupted()) return;
    if (p_.geometry.sub_m) {
      std::memcpy(p_.out_indices, rows, static_cast<std::size_t>(p_.rows * width_) * sizeof *rows);
      return;
    }
    for_slices(0, count, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) sender_.decode(sites[i].place, p_.out_indices + i * width_);
    });
  }

  void write_cell(const std::int32_t *rows, const Site *sites, std::int64_t count, std::int64_t cell) const {
    std::int32_t *inputs = p_.pairs + cell * 2 * p_.rows, *outputs = inputs + p_.rows;
    std::int64_t number = 0;
    each_sent(rows, cell, [&](std::int64_t row, std::int64_t place) {
      const std::int64_t found = find_site(sites, count, place);
      if (found < 0) return;
      inputs[number] = static_cast<std::int32_t>(row);
      outputs[number++] = p_.geometry.sub_m ? sites[found].row : static_cast<std::int32_t>(found);
    });
    p_.counts[cell] = static_cast<std::int32_t>(number);
    const std::size_t rest = static_cast<std::size_t>(p_.rows - number) * sizeof *inputs;
    std::memset(inputs + number, 0xff, rest);
    std::memset(outputs + number, 0xff, rest);
  }

  const GeneralPairsProblem &p_;
  const std::int64_t width_;
  const Sender sender_;
};

}  // namespace

mluOpStatus_t general_indice_pairs(const GeneralPairsProblem &problem) { return GeneralPairs(problem).run(); }

MLUOPS_END_LEVEL
MLUOPS_DEFINE_LAUNCH(launch_general_indice_pairs, general_indice_pairs, GeneralPairsProblem, "mluopsExtGetIndicePairs");
