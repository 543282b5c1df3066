// What happens when there is no memory: ALLOC_FAILED with a reason, and nothing leaked or half made.
//
// The program replaces operator new and, by the linker's --wrap, malloc and aligned_alloc of the library's objects. The n-th allocation of
// a call fails, for n = 1, 2, ... until the call succeeds.
#include <new>
#include <string>

#include "objects.h"

extern "C" void *__real_malloc(std::size_t size);
extern "C" void *__wrap_malloc(std::size_t size);
extern "C" void *__real_aligned_alloc(std::size_t alignment, std::size_t size);
extern "C" void *__wrap_aligned_alloc(std::size_t alignment, std::size_t size);

namespace {

thread_local long allocations_left = -1;  // negative: no limit

bool allowed() {
  if (allocations_left < 0) return true;
  if (allocations_left == 0) return false;
  --allocations_left;
  return true;
}

}  // namespace

void *__wrap_malloc(std::size_t size) { return allowed() ? __real_malloc(size) : nullptr; }

void *__wrap_aligned_alloc(std::size_t alignment, std::size_t size) {
  return allowed() ? __real_aligned_alloc(alignment, size) : nullptr;
}

// Not inlined, or GCC sees free() called on what a new expression returned and warns.
#define MLUOPS_NOT_INLINED __attribute__((noinline))

MLUOPS_NOT_INLINED void *operator new(std::size_t size) {
  void *memory = allowed() ? __real_malloc(size > 0 ? size : 1) : nullptr;
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

MLUOPS_NOT_INLINED void operator delete(void *memory) noexcept { std::free(memory); }
MLUOPS_NOT_INLINED void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }

using namespace objects;

namespace {

// Calls `call` with ever more allocations allowed. Returns how many calls failed before one succeeded.
template <typename Call, typename AfterFailure>
int until_it_succeeds(const char *function, const Call &call, const AfterFailure &after_failure) {
  for (int failed = 0; failed < 1000; ++failed) {
    allocations_left = failed;
    const mluOpStatus_t status = call();
    allocations_left = -1;
    if (status == MLUOP_STATUS_SUCCESS) return failed;
    CHECK_EQ(status, MLUOP_STATUS_ALLOC_FAILED);
    CHECK(std::string(mluopsExtGetLastReason()).rfind(std::string(function) + ": ", 0) == 0);
    after_failure();
  }
  CHECK(!"a call that never succeeds");
  return -1;
}

void nothing() {}

}  // namespace

TEST(create_functions) {
  // Objects come in slabs, so more are made than one holds.
  int failed = 0;
  std::vector<mluOpTensorDescriptor_t> descs(1000);
  for (auto &desc : descs) {
    failed += until_it_succeeds(
        "mluOpCreateTensorDescriptor", [&] { return mluOpCreateTensorDescriptor(&desc); },
        [&] { CHECK(desc == nullptr); });
  }
  CHECK(failed > 0);
  for (auto &desc : descs) CHECK_EQ(mluOpDestroyTensorDescriptor(desc), MLUOP_STATUS_SUCCESS);
  mluOpHandle_t handle = nullptr;
  until_it_succeeds("mluOpCreate", [&] { return mluOpCreate(&handle); }, [&] { CHECK(handle == nullptr); });
  CHECK_EQ(mluOpDestroy(handle), MLUOP_STATUS_SUCCESS);
  mluOpSparseConvolutionDescriptor_t sparse = nullptr;
  until_it_succeeds(
      "mluOpCreateSparseConvolutionDescriptor", [&] { return mluOpCreateSparseConvolutionDescriptor(&sparse); },
      [&] { CHECK(sparse == nullptr); });
  CHECK_EQ(mluOpDestroySparseConvolutionDescriptor(sparse), MLUOP_STATUS_SUCCESS);
}

TEST(groups_are_created_whole_or_not_at_all) {
  constexpr int kCount = 3000;  // more than other tests left behind
  std::vector<mluOpTensorDescriptor_t> descs(kCount);
  std::vector<mluOpTensorDescriptor_t *> group;
  for (auto &desc : descs) group.push_back(&desc);
  const int failed = until_it_succeeds(
      "mluOpCreateGroupTensorDescriptors", [&] { return mluOpCreateGroupTensorDescriptors(group.data(), kCount); },
      [&] {
        for (auto &desc : descs) CHECK(desc == nullptr);
      });
  CHECK(failed > 1);
  CHECK_EQ(mluOpDestroyGroupTensorDescriptors(group.data(), kCount), MLUOP_STATUS_SUCCESS);
}

TEST(tensor_sets) {
  mluOpTensorSetDescriptor_t set = nullptr;
  const int dims[] = {30, 40};
  const int failed = until_it_succeeds(
      "mluOpCreateTensorSetDescriptor", [&] { return mluOpCreateTensorSetDescriptor(&set, 2, dims); },
      [&] { CHECK(set == nullptr); });
  CHECK(failed > 1);
  CHECK_EQ(mluOpDestroyTensorSetDescriptor(set), MLUOP_STATUS_SUCCESS);
}

TEST(sequence_data_keeps_its_values) {
  mluOpSeqDataDescriptor_t desc = nullptr;
  until_it_succeeds("mluOpCreateSeqDataDescriptor", [&] { return mluOpCreateSeqDataDescriptor(&desc); }, nothing);
  const std::int64_t before[] = {7, 8, 9}, after[] = {1, 2, 3, 4};
  const int lengths[] = {1, 2};
  float padding = 0;
  const auto set = [&](int rank, const std::int64_t *dims) {
    return mluOpSetSeqDataDescriptor_v2(desc, MLUOP_SEQDATA_NTC, MLUOP_DTYPE_FLOAT, rank, dims, 2, lengths, &padding);
  };
  CHECK_EQ(set(3, before), MLUOP_STATUS_SUCCESS);
  const int failed = until_it_succeeds(
      "mluOpSetSeqDataDescriptor_v2", [&] { return set(4, after); },
      [&] {
        int rank = 0;
        std::int64_t dims[MLUOP_DIM_MAX] = {};
        mluOpGetSeqDataDescriptor_v2(desc, nullptr, nullptr, &rank, dims, nullptr, nullptr, nullptr);
        CHECK(rank == 3 && dims[0] == 7 && dims[2] == 9);
      });
  CHECK(failed > 0);
  CHECK_EQ(mluOpDestroySeqDataDescriptor(desc), MLUOP_STATUS_SUCCESS);
}

TEST(operators) {
  const Handle handle;
  std::mt19937 random(14);
  Tensor<float> dense({2, 5, 31}), points({2, 5, 67}), weights({2, 67, 3});
  Tensor<std::int32_t> indices({2, 67, 3});
  weights.fill_uniform(random, 0, 1);
  indices.fill_integers(random, 0, 30);
  points.fill_uniform(random, -1, 1);
  const std::vector<float> before = dense.copy();
  until_it_succeeds(
      "mluOpThreeInterpolateBackward",
      [&] {
        return mluOpThreeInterpolateBackward(handle, points.desc, points.data, indices.desc, indices.data, weights.desc,
                                             weights.data, dense.desc, dense.data);
      },
      [&] { CHECK(dense.same_bits(before)); });

  constexpr mluOpTensorLayout_t kNhwc = MLUOP_LAYOUT_NHWC;
  Tensor<Half> gradient({1, 33, 4, 5}, kNhwc), boxes({1, 33, 4}), image({1, 9, 7, 20}, kNhwc);
  Tensor<std::int32_t> argmax({1, 33, 4, 5}, kNhwc);
  gradient.fill_uniform(random, -1, 1);
  boxes.fill_uniform(random, 0, 7);
  argmax.fill_integers(random, 0, 3);
  const std::vector<Half> image_before = image.copy();
  until_it_succeeds(
      "mluOpBorderAlignBackward",
      [&] {
        return mluOpBorderAlignBackward(handle, gradient.desc, gradient.data, boxes.desc, boxes.data, argmax.desc,
                                        argmax.data, 3, image.desc, image.data);
      },
      [&] { CHECK(image.same_bits(image_before)); });
}

int main(int count, char **arguments) { return harness::run_all(count, arguments); }
