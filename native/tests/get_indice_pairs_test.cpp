// GetIndicePairs against a search over all rows and filter cells, on exactly sized memory and
// workspace.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "objects.h"

using namespace objects;

namespace {

using Three = std::array<int, 3>;
using Site = std::array<int, 4>;

struct Geometry {
  int batch;
  Three pad, stride, dilation, input, filter, output;
  int sub_m;
};

int volume(const Three &three) { return three[0] * three[1] * three[2]; }

class SparseDescriptor {
 public:
  explicit SparseDescriptor(const Geometry &g) {
    CHECK_EQ(mluOpCreateSparseConvolutionDescriptor(&desc_), MLUOP_STATUS_SUCCESS);
    CHECK_EQ(mluOpSetSparseConvolutionDescriptor(desc_, 5, g.batch, g.pad.data(), g.stride.data(), g.dilation.data(),
                                                 g.input.data(), g.filter.data(), g.output.data(), g.sub_m, 0, 0),
             MLUOP_STATUS_SUCCESS);
  }
  ~SparseDescriptor() { CHECK_EQ(mluOpDestroySparseConvolutionDescriptor(desc_), MLUOP_STATUS_SUCCESS); }
  SparseDescriptor(const SparseDescriptor &) = delete;
  SparseDescriptor &operator=(const SparseDescriptor &) = delete;
  operator mluOpSparseConvolutionDescriptor_t() const { return desc_; }
  int rows() const {
    int count = -1;
    CHECK_EQ(mluOpGetSparseConvolutionNumActOut(desc_, &count), MLUOP_STATUS_SUCCESS);
    return count;
  }

 private:
  mluOpSparseConvolutionDescriptor_t desc_ = nullptr;
};

// The output site that filter cell `cell` sends `row` to; false if there is none.
bool reach(const Geometry &g, const Site &row, int cell, Site *site) {
  const int cells[] = {cell / g.filter[2] / g.filter[1], cell / g.filter[2] % g.filter[1], cell % g.filter[2]};
  (*site)[0] = row[0];
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const int at = row[axis + 1] + g.pad[axis] - cells[axis] * g.dilation[axis];
    if (at < 0 || at % g.stride[axis] != 0 || at / g.stride[axis] >= g.output[axis]) return false;
    (*site)[axis + 1] = at / g.stride[axis];
  }
  return true;
}

// Output sites, each with its row.
std::map<Site, int> output_rows(const Geometry &g, const std::vector<Site> &rows) {
  std::map<Site, int> sites;
  if (g.sub_m != 0) {
    for (std::size_t i = 0; i < rows.size(); ++i) sites.emplace(rows[i], static_cast<int>(i));  // the lowest row stays
    return sites;
  }
  Site site;
  for (const Site &row : rows) {
    for (int cell = 0; cell < volume(g.filter); ++cell) {
      if (reach(g, row, cell, &site)) sites[site] = 0;
    }
  }
  int next = 0;
  for (auto &entry : sites) entry.second = next++;
  return sites;
}

struct Call {
  Call(const Geometry &g, const std::vector<Site> &rows, std::int64_t room)
      : sparse(g),
        indices({static_cast<std::int64_t>(rows.size()), 4}),
        pairs({volume(g.filter), 2, static_cast<std::int64_t>(rows.size())}),
        out({room, 4}),
        counts({volume(g.filter)}) {
    if (!rows.empty()) std::memcpy(indices.data, rows.data(), rows.size() * sizeof rows[0]);
    CHECK_EQ(mluOpGetIndicePairsWorkspaceSize(handle, sparse, indices.desc, pairs.desc, out.desc, counts.desc, &size),
             MLUOP_STATUS_SUCCESS);
  }
  // The workspace ends at the end of its memory; `shift` bytes in front make its address odd.
  mluOpStatus_t run(std::size_t shift = 0) {
    char *memory = static_cast<char *>(std::malloc(size + shift));
    const mluOpStatus_t status =
        mluOpGetIndicePairs(handle, sparse, indices.desc, indices.data, memory + shift, size, pairs.desc, pairs.data,
                            out.desc, out.data, counts.desc, counts.data);
    std::free(memory);
    return status;
  }
  Handle handle;
  SparseDescriptor sparse;
  Tensor<std::int32_t> indices, pairs, out, counts;
  std::size_t size = 0;
};

void check_pairs(const Geometry &g, const std::vector<Site> &rows, const std::map<Site, int> &sites, const Call &call) {
  const auto length = static_cast<std::int64_t>(rows.size());
  std::vector<std::int32_t> wanted(static_cast<std::size_t>(call.pairs.count), -1), counts;
  for (int cell = 0; cell < volume(g.filter); ++cell) {
    std::int32_t found = 0;
    for (std::int64_t l = 0; l < length; ++l) {
      Site site;
      if (!reach(g, rows[static_cast<std::size_t>(l)], cell, &site)) continue;
      const auto entry = sites.find(site);
      if (entry == sites.end()) continue;
      wanted[static_cast<std::size_t>(cell * 2 * length + found)] = static_cast<std::int32_t>(l);
      wanted[static_cast<std::size_t>((cell * 2 + 1) * length + found)] = entry->second;
      ++found;
    }
    counts.push_back(found);
  }
  CHECK(call.pairs.same_bits(wanted));
  CHECK(call.counts.same_bits(counts));
}

void compare(const Geometry &g, const std::vector<Site> &rows, std::size_t shift = 0) {
  const std::map<Site, int> sites = output_rows(g, rows);
  const std::size_t count = g.sub_m != 0 ? rows.size() : sites.size();
  Call call(g, rows, static_cast<std::int64_t>(std::max<std::size_t>(count, 1)));
  CHECK_EQ(call.run(shift), MLUOP_STATUS_SUCCESS);
  CHECK_EQ(call.sparse.rows(), static_cast<int>(count));
  check_pairs(g, rows, sites, call);
  std::vector<Site> wanted = rows;
  if (g.sub_m == 0) {
    wanted.clear();
    for (const auto &entry : sites) wanted.push_back(entry.first);
  }
  CHECK(count == 0 || std::memcmp(call.out.data, wanted.data(), wanted.size() * sizeof wanted[0]) == 0);
}

std::vector<Site> random_rows(const Geometry &g, std::size_t count, std::mt19937 &random, bool unique) {
  std::set<Site> seen;
  std::vector<Site> rows;
  while (rows.size() < count) {
    Site row{static_cast<int>(random() % static_cast<unsigned>(g.batch))};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      row[axis + 1] = static_cast<int>(random() % static_cast<unsigned>(g.input[axis]));
    }
    if (!unique || seen.insert(row).second) rows.push_back(row);
  }
  return rows;
}

const Three kOnes{1, 1, 1};
const Three kNone{0, 0, 0};

}  // namespace

TEST(sub_manifold) {
  std::mt19937 random(10);
  const Three filters[] = {{1, 1, 1}, {3, 3, 3}, {5, 1, 3}, {2, 2, 2}, {3, 4, 7}};
  for (const Three &filter : filters) {
    const Three pad{(filter[0] - 1) / 2, (filter[1] - 1) / 2, (filter[2] - 1) / 2};
    for (const Three &space : {Three{1, 1, 1}, Three{5, 7, 11}, Three{2, 33, 17}}) {
      const Geometry g{2, pad, kOnes, kOnes, space, filter, space, 1};
      const auto cells = static_cast<std::size_t>(2 * volume(space));
      for (const std::size_t count : {std::size_t{1}, cells / 3 + 1, cells})
        compare(g, random_rows(g, count, random, true));
      if (volume(space) > 1) compare(g, random_rows(g, cells / 2, random, false));
    }
  }
}

TEST(default_mode) {
  std::mt19937 random(11);
  const Geometry geometries[] = {
      {1, kOnes, kOnes, kOnes, {4, 5, 6}, {3, 3, 3}, {4, 5, 6}, 0},
      {3, kOnes, {2, 2, 2}, kOnes, {7, 9, 5}, {3, 3, 3}, {4, 5, 3}, 0},
      {2, {0, 1, 1}, {2, 1, 3}, kOnes, {11, 13, 17}, {3, 3, 3}, {5, 13, 6}, 0},
      {1, {2, 0, 1}, kOnes, {2, 1, 3}, {9, 8, 7}, {3, 2, 2}, {9, 7, 6}, 0},
      {2, kNone, {2, 2, 2}, kOnes, {8, 8, 8}, {2, 2, 2}, {4, 4, 4}, 0},
      {1, kNone, kOnes, kOnes, {6, 6, 6}, {1, 1, 1}, {6, 6, 6}, 0},
      {1, {5, 5, 5}, kOnes, kOnes, {3, 3, 3}, {3, 3, 3}, {20, 20, 20}, 0},
      {2, kNone, {7, 13, 30}, kOnes, {50, 60, 100}, {1, 1, 1}, {8, 5, 4}, 0},
      {1, kOnes, kOnes, kOnes, {5, 5, 5}, {3, 3, 3}, {1, 1, 1}, 0},
  };
  for (const Geometry &g : geometries) {
    const auto cells = static_cast<std::size_t>(g.batch * volume(g.input));
    for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::min<std::size_t>(cells, 97)}) {
      compare(g, random_rows(g, count, random, true));
      compare(g, random_rows(g, count, random, false));
    }
  }
}

// Rows are grouped by the filter cells that send them to outputs. Strides of 5 give too many
// groups, and a filter of 11 too many cells in one; 10 along two axes are the maximum. The outputs
// of a group's cells are less or more than 64 apart.
TEST(kinds_of_rows) {
  std::mt19937 random(16);
  const Geometry geometries[] = {
      {2, kNone, {5, 5, 5}, kOnes, {25, 30, 20}, {5, 5, 5}, {5, 6, 4}, 0},
      {2, {2, 2, 2}, {5, 5, 5}, kOnes, {17, 18, 19}, {6, 7, 8}, {4, 4, 4}, 0},
      {2, {2, 1, 0}, {4, 4, 4}, kOnes, {17, 18, 19}, {5, 6, 4}, {5, 4, 4}, 0},
      {1, {5, 0, 5}, kOnes, kOnes, {6, 4, 70}, {11, 1, 11}, {6, 4, 70}, 0},
      {1, {5, 1, 5}, kOnes, kOnes, {9, 7, 30}, {10, 2, 10}, {10, 8, 31}, 0},
      {1, {0, 0, 40}, kOnes, {1, 1, 20}, {3, 3, 200}, {1, 3, 4}, {3, 1, 220}, 0},
      {1, {0, 0, 40}, kOnes, {1, 1, 30}, {3, 3, 200}, {1, 3, 4}, {3, 1, 190}, 0},
      {2, kOnes, {2, 2, 2}, kOnes, {9, 21, 199}, {3, 3, 3}, {5, 11, 100}, 0},
  };
  for (const Geometry &g : geometries) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{64}, std::size_t{700}}) {
      compare(g, random_rows(g, count, random, true));
      compare(g, random_rows(g, count, random, false));
    }
  }
}

TEST(enough_rows_for_many_threads) {
  std::mt19937 random(12);
  const Geometry down{2, kOnes, {2, 2, 2}, kOnes, {31, 33, 35}, {3, 3, 3}, {16, 17, 18}, 0};
  const Geometry same{2, kOnes, kOnes, kOnes, {31, 33, 35}, {3, 3, 3}, {31, 33, 35}, 1};
  compare(down, random_rows(down, 5003, random, true));
  compare(same, random_rows(same, 5003, random, true));
  // A grid with all words, and one with only marked words, large enough for several threads.
  for (const Three &space : {Three{63, 66, 70}, Three{130, 200, 180}}) {
    Geometry large{2, kOnes, kOnes, kOnes, space, {3, 3, 3}, space, 0};
    for (large.sub_m = 0; large.sub_m < 2; ++large.sub_m) compare(large, random_rows(large, 5003, random, true));
  }
}

TEST(workspace_at_any_address) {
  std::mt19937 random(15);
  // 64 rows under 8 cells fill every part of the workspace to its last byte.
  for (const Three &filter : {Three{3, 3, 3}, Three{1, 1, 8}}) {
    Geometry g{2,          {(filter[0] - 1) / 2, (filter[1] - 1) / 2, (filter[2] - 1) / 2},
               kOnes,      kOnes,
               {5, 7, 16}, filter,
               {5, 7, 16}, 0};
    for (g.sub_m = 0; g.sub_m < 2; ++g.sub_m) {
      const std::vector<Site> rows = random_rows(g, filter[2] == 8 ? 64 : 131, random, true);
      for (const std::size_t shift : {1, 2, 4, 8, 31, 63}) compare(g, rows, shift);
    }
  }
}

TEST(coordinates_at_the_far_end_of_a_large_space) {
  const Three space{1 << 20, 1 << 20, 1 << 10};
  const Geometry g{2, kOnes, kOnes, kOnes, space, {3, 3, 3}, space, 0};
  const int last = (1 << 20) - 1;
  compare(g, {{1, last, last, 1023}, {0, 0, 0, 0}, {1, last, 0, 1023}, {0, last, last, 0}});
  Geometry sub = g;
  sub.sub_m = 1;
  compare(sub, {{1, last, last, 1023}, {0, 0, 0, 0}, {1, last, last, 1022}, {0, last, last, 0}});
}

TEST(numbers_at_the_end_of_int) {
  const Geometry g{1, {INT32_MAX, 0, 0}, kOnes, kOnes, {4, 4, 4}, {2, 1, 1}, {INT32_MAX, 4, 4}, 0};
  Call call(g, {{0, 3, 3, 3}, {0, 0, 0, 0}}, 4);
  CHECK_EQ(call.run(), MLUOP_STATUS_SUCCESS);  // for depth 0 under filter cell 1: 0 + INT32_MAX - 1
  CHECK_EQ(call.sparse.rows(), 1);
}

TEST(refusals_leave_outputs_alone) {
  const Geometry g{1, kOnes, kOnes, kOnes, {4, 4, 4}, {3, 3, 3}, {4, 4, 4}, 0};
  const auto untouched = [](const Call &call) {
    for (const auto *tensor : {&call.pairs, &call.out, &call.counts}) {
      CHECK(std::all_of(tensor->data, tensor->data + tensor->count,
                        [](std::int32_t value) { return value == static_cast<std::int32_t>(0xa5a5a5a5u); }));
    }
  };
  Call small(g, {{0, 1, 1, 1}, {0, 2, 2, 2}}, 3);
  CHECK_EQ(small.run(), MLUOP_STATUS_BAD_PARAM);
  CHECK_EQ(small.sparse.rows(), static_cast<int>(output_rows(g, {{0, 1, 1, 1}, {0, 2, 2, 2}}).size()));
  untouched(small);
  Call outside(g, {{0, 1, 1, 1}, {0, 2, 4, 2}}, 60);
  CHECK_EQ(outside.run(), MLUOP_STATUS_BAD_PARAM);
  CHECK_EQ(outside.sparse.rows(), 0);
  untouched(outside);
  // Rows are checked in batches: test each coordinate, first and last values, at the ends of
  // batches.
  const Geometry wide{2, kOnes, kOnes, kOnes, {5, 6, 70}, {3, 3, 3}, {5, 6, 70}, 0};
  const Site inside{1, 4, 5, 69};
  for (const std::size_t place : {std::size_t{0}, std::size_t{255}, std::size_t{256}, std::size_t{299}}) {
    for (std::size_t axis = 0; axis < inside.size(); ++axis) {
      for (const int coordinate : {inside[axis] + 1, -1, INT32_MIN}) {
        std::vector<Site> rows(300, inside);
        rows[place][axis] = coordinate;
        Call bad(wide, rows, 300);
        CHECK_EQ(bad.run(), MLUOP_STATUS_BAD_PARAM);
        untouched(bad);
      }
    }
  }
  Call short_workspace(g, {{0, 1, 1, 1}}, 60);
  --short_workspace.size;
  CHECK_EQ(short_workspace.run(), MLUOP_STATUS_BAD_PARAM);
  untouched(short_workspace);
}

int main(int count, char **arguments) { return harness::run_all(count, arguments); }
