// Handles, descriptors, statuses and reasons, also with many threads.
#include <climits>
#include <string>
#include <thread>

#include "objects.h"

using namespace objects;

namespace {

constexpr int kThreads = 8;

std::string reason() { return mluopsExtGetLastReason(); }

bool starts_with(const std::string &text, const char *start) { return text.rfind(start, 0) == 0; }

// Runs work(0) .. work(count - 1), each on its own thread.
template <typename Work>
void on_threads(int count, const Work &work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(work, i);
  for (std::thread &thread : threads) thread.join();
}

// The readable state of a tensor descriptor.
struct State {
  mluOpTensorLayout_t layout;
  mluOpDataType_t dtype;
  int rank;
  std::int64_t dims[MLUOP_DIM_MAX];
  std::int64_t strides[MLUOP_DIM_MAX];
  std::size_t elements;
};

State state_of(mluOpTensorDescriptor_t desc) {
  State state;
  std::memset(&state, 0, sizeof state);
  CHECK_EQ(mluOpGetTensorDescriptorEx_v2(desc, &state.layout, &state.dtype, &state.rank, state.dims, state.strides),
           MLUOP_STATUS_SUCCESS);
  state.elements = mluOpGetTensorElementNum(desc);
  return state;
}

bool same(const State &a, const State &b) { return std::memcmp(&a, &b, sizeof a) == 0; }

template <typename Enum>
Enum number(int value) {
  Enum result;
  std::memcpy(&result, &value, sizeof result);
  return result;
}

}  // namespace

TEST(handle_life) {
  mluOpHandle_t handle = nullptr;
  CHECK_EQ(mluOpCreate(nullptr), MLUOP_STATUS_BAD_PARAM);
  CHECK_EQ(mluOpCreate(&handle), MLUOP_STATUS_SUCCESS);
  CHECK_EQ(mluOpSetQueue(handle, nullptr), MLUOP_STATUS_SUCCESS);
  CHECK_EQ(mluOpUpdateContextInformation(handle), MLUOP_STATUS_SUCCESS);
  CHECK_EQ(mluOpDestroy(handle), MLUOP_STATUS_SUCCESS);
  CHECK_EQ(mluOpDestroy(handle), MLUOP_STATUS_BAD_PARAM);
  CHECK(starts_with(reason(), "mluOpDestroy: handle: expected "));
  CHECK_EQ(mluOpSetQueue(handle, nullptr), MLUOP_STATUS_BAD_PARAM);
}

TEST(objects_of_another_kind_are_refused) {
  const Handle handle;
  const Descriptor desc({2, 3}, MLUOP_DTYPE_FLOAT);
  const auto as_desc = reinterpret_cast<mluOpTensorDescriptor_t>(static_cast<mluOpHandle_t>(handle));
  const auto as_handle = reinterpret_cast<mluOpHandle_t>(static_cast<mluOpTensorDescriptor_t>(desc));
  CHECK_EQ(mluOpDestroyTensorDescriptor(as_desc), MLUOP_STATUS_BAD_PARAM);
  CHECK_EQ(mluOpGetTensorElementNum(as_desc), std::size_t{0});
  CHECK_EQ(mluOpDestroy(as_handle), MLUOP_STATUS_BAD_PARAM);
  CHECK_EQ(mluOpGetTensorElementNum(desc), std::size_t{6});
}

TEST(a_reused_slot_holds_a_fresh_object) {
  for (int i = 0; i < 1000; ++i) {
    mluOpTensorDescriptor_t desc = nullptr;
    CHECK_EQ(mluOpCreateTensorDescriptor(&desc), MLUOP_STATUS_SUCCESS);
    const State fresh = state_of(desc);
    CHECK(fresh.rank == 0 && fresh.elements == 0 && fresh.dtype == MLUOP_DTYPE_FLOAT);
    const int dims[] = {2, 3, 4};
    mluOpSetTensorDescriptor(desc, MLUOP_LAYOUT_NHWC, MLUOP_DTYPE_HALF, 3, dims);
    mluOpSetTensorDescriptorPositionScaleAndOffset(desc, 4, 5.0f, 6);
    CHECK_EQ(mluOpDestroyTensorDescriptor(desc), MLUOP_STATUS_SUCCESS);
  }
}

TEST(refused_setters_change_nothing) {
  mluOpTensorDescriptor_t desc = nullptr;
  mluOpCreateTensorDescriptor(&desc);
  const std::int64_t dims[] = {2, 3, 4}, strides[] = {99, 7, 1};
  mluOpSetTensorDescriptorEx_v2(desc, MLUOP_LAYOUT_NTC, MLUOP_DTYPE_INT8, 3, dims, strides);
  const State before = state_of(desc);
  const std::int64_t negative[] = {2, INT64_MIN, 4}, huge[] = {INT64_MAX, INT64_MAX, INT64_MAX}, bytes[] = {INT64_MAX};
  const auto half = MLUOP_DTYPE_HALF;
  const auto array = MLUOP_LAYOUT_ARRAY;
  CHECK_EQ(mluOpSetTensorDescriptor_v2(desc, array, half, 3, negative), MLUOP_STATUS_BAD_PARAM);
  CHECK_EQ(mluOpSetTensorDescriptor_v2(desc, array, half, 3, huge), MLUOP_STATUS_BAD_PARAM);
  CHECK_EQ(mluOpSetTensorDescriptor_v2(desc, array, half, 1, bytes), MLUOP_STATUS_BAD_PARAM);
  CHECK_EQ(mluOpSetTensorDescriptor_v2(desc, array, half, 9, huge), MLUOP_STATUS_BAD_PARAM);
  CHECK_EQ(mluOpSetTensorDescriptor_v2(desc, array, half, INT_MIN, dims), MLUOP_STATUS_BAD_PARAM);
  CHECK_EQ(mluOpSetTensorDescriptor_v2(desc, array, half, 0, dims), MLUOP_STATUS_BAD_PARAM);
  CHECK_EQ(mluOpSetTensorDescriptor_v2(desc, array, half, 3, nullptr), MLUOP_STATUS_BAD_PARAM);
  CHECK_EQ(mluOpSetTensorDescriptorEx_v2(desc, array, half, 3, dims, nullptr), MLUOP_STATUS_BAD_PARAM);
  CHECK_EQ(mluOpSetTensorDescriptor_v2(desc, number<mluOpTensorLayout_t>(-1), half, 3, dims), MLUOP_STATUS_BAD_PARAM);
  CHECK_EQ(mluOpSetTensorDescriptor_v2(desc, array, number<mluOpDataType_t>(-1), 3, dims), MLUOP_STATUS_BAD_PARAM);
  CHECK(same(state_of(desc), before));
  mluOpDestroyTensorDescriptor(desc);
}

TEST(extreme_dims_and_strides_are_kept_without_overflow) {
  const std::int64_t empty[] = {INT64_MAX, INT64_MAX, 0, INT64_MAX}, one[] = {1, 1, 1, 1};
  const std::int64_t wide[] = {INT64_MIN, INT64_MAX, -1, 0};
  mluOpTensorDescriptor_t desc = nullptr;
  mluOpCreateTensorDescriptor(&desc);
  CHECK_EQ(mluOpSetTensorDescriptor_v2(desc, MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, 4, empty), MLUOP_STATUS_SUCCESS);
  CHECK_EQ(mluOpGetTensorElementNum(desc), std::size_t{0});
  CHECK_EQ(mluOpSetTensorDescriptorEx_v2(desc, MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, 4, empty, wide),
           MLUOP_STATUS_SUCCESS);
  CHECK_EQ(mluOpSetTensorDescriptorEx_v2(desc, MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, 4, one, wide),
           MLUOP_STATUS_SUCCESS);
  CHECK(std::memcmp(state_of(desc).strides, wide, sizeof wide) == 0);
  mluOpDestroyTensorDescriptor(desc);
}

TEST(numbers_outside_the_enumerations) {
  std::size_t size = 1;
  for (const int value : {10, 18, 1000, -1, INT_MIN, INT_MAX}) {
    CHECK_EQ(mluOpGetSizeOfDataType(number<mluOpDataType_t>(value), &size), MLUOP_STATUS_SUCCESS);
    CHECK_EQ(size, std::size_t{0});
    CHECK_EQ(std::string(mluOpGetErrorString(number<mluOpStatus_t>(value))), "MLUOP_STATUS_UNKNOWN");
  }
  const Handle handle;
  CHECK_EQ(mluOpSetQuantizeRoundMode(handle, number<mluOpQuantizeRoundMode_t>(INT_MIN)), MLUOP_STATUS_BAD_PARAM);
  CHECK_EQ(mluOpSetAtomicsMode(handle, number<mluOpAtomicsMode_t>(INT_MAX)), MLUOP_STATUS_SUCCESS);
  const Tensor<std::int32_t> shifts({1, 1});
  const Descriptor strange({1, 1, 1, 1}, number<mluOpDataType_t>(77), number<mluOpTensorLayout_t>(77));
  float data = 0;
  CHECK_EQ(mluOpTinShiftForward(handle, strange, &data, shifts.desc, shifts.data, strange, &data),
           MLUOP_STATUS_BAD_PARAM);
  CHECK_EQ(mluOpPsamaskForward(handle, 0, strange, &data, 1, 1, strange, &data), MLUOP_STATUS_BAD_PARAM);
}

TEST(tensor_set_sizes_do_not_overflow) {
  mluOpTensorSetDescriptor_t set = nullptr;
  const int dims[] = {2}, huge[] = {INT_MAX, INT_MAX, INT_MAX, INT_MAX, INT_MAX}, wide[] = {1 << 30, 1 << 30};
  CHECK_EQ(mluOpCreateTensorSetDescriptor(&set, 5, huge), MLUOP_STATUS_BAD_PARAM);
  CHECK_EQ(mluOpCreateTensorSetDescriptor(&set, 1, dims), MLUOP_STATUS_SUCCESS);
  for (int i = 0; i < 2; ++i) {
    CHECK_EQ(mluOpInitTensorSetMemberDescriptor(set, 1, &i, MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, 2, wide),
             MLUOP_STATUS_SUCCESS);
  }
  int bytes = -7;
  CHECK_EQ(mluOpGetTensorSetDescriptorSize(set, &bytes), MLUOP_STATUS_BAD_PARAM);
  CHECK_EQ(bytes, -7);
  CHECK_EQ(mluOpDestroyTensorSetDescriptor(set), MLUOP_STATUS_SUCCESS);
  CHECK_EQ(mluOpDestroyTensorSetDescriptor(set), MLUOP_STATUS_BAD_PARAM);
}

TEST(sequence_data_of_changing_size) {
  mluOpSeqDataDescriptor_t desc = nullptr;
  CHECK_EQ(mluOpCreateSeqDataDescriptor(&desc), MLUOP_STATUS_SUCCESS);
  const std::int64_t dims[] = {2, 3, 4, 5, 6, 7, 8, 9};
  std::vector<int> lengths(1000, 3);
  double padding = 1.5;
  for (const int count : {1000, 0, 1, 500}) {
    CHECK_EQ(mluOpSetSeqDataDescriptor_v2(desc, MLUOP_SEQDATA_TNC, MLUOP_DTYPE_DOUBLE, 8, dims, count, lengths.data(),
                                          &padding),
             MLUOP_STATUS_SUCCESS);
    std::vector<std::int64_t> found(static_cast<std::size_t>(count) + 1, -1), found_dims(8);
    std::int64_t found_count = -1;
    mluOpDataType_t dtype = MLUOP_DTYPE_INVALID;
    double found_padding = 0;
    CHECK_EQ(mluOpGetSeqDataDescriptor_v2(desc, nullptr, &dtype, nullptr, found_dims.data(), &found_count, found.data(),
                                          &found_padding),
             MLUOP_STATUS_SUCCESS);
    CHECK_EQ(found_count, count);
    CHECK_EQ(found.back(), -1);
    CHECK(count == 0 || found.front() == 3);
    CHECK(found_padding == padding && found_dims[7] == 9);
  }
  CHECK_EQ(mluOpDestroySeqDataDescriptor(desc), MLUOP_STATUS_SUCCESS);
  CHECK_EQ(mluOpDestroySeqDataDescriptor(desc), MLUOP_STATUS_BAD_PARAM);
}

TEST(many_threads_create_and_destroy) {
  on_threads(kThreads, [](int thread) {
    for (int i = 0; i < 2000; ++i) {
      const Handle handle;
      const Descriptor desc({thread + 1, i + 1}, MLUOP_DTYPE_FLOAT), other({7}, MLUOP_DTYPE_HALF);
      mluOpSparseConvolutionDescriptor_t sparse = nullptr;
      CHECK_EQ(mluOpCreateSparseConvolutionDescriptor(&sparse), MLUOP_STATUS_SUCCESS);
      const State state = state_of(desc);
      CHECK(state.dims[0] == thread + 1 && state.dims[1] == i + 1);
      CHECK_EQ(mluOpGetTensorElementNum(other), std::size_t{7});
      CHECK_EQ(mluOpDestroySparseConvolutionDescriptor(sparse), MLUOP_STATUS_SUCCESS);
    }
  });
}

TEST(of_many_destroyers_one_succeeds) {
  constexpr int kObjects = 2000;
  std::vector<mluOpTensorDescriptor_t> descs(kObjects);
  std::vector<mluOpSeqDataDescriptor_t> sequences(kObjects);
  for (auto &desc : descs) mluOpCreateTensorDescriptor(&desc);
  for (auto &sequence : sequences) mluOpCreateSeqDataDescriptor(&sequence);
  std::atomic<int> destroyed{0};
  on_threads(4, [&](int) {
    for (int i = 0; i < kObjects; ++i) {
      const auto at = static_cast<std::size_t>(i);
      destroyed += mluOpDestroyTensorDescriptor(descs[at]) == MLUOP_STATUS_SUCCESS;
      destroyed += mluOpDestroySeqDataDescriptor(sequences[at]) == MLUOP_STATUS_SUCCESS;
    }
  });
  CHECK_EQ(destroyed.load(), 2 * kObjects);
}

TEST(reasons_are_per_thread) {
  std::thread([] { CHECK_EQ(reason(), ""); }).join();
  on_threads(kThreads, [](int thread) {
    for (int i = 0; i < 1000; ++i) {
      const bool odd = thread % 2 != 0;
      if (odd) mluOpDestroyTensorDescriptor(nullptr);
      if (!odd) mluOpCreate(nullptr);
      CHECK(starts_with(reason(), odd ? "mluOpDestroyTensorDescriptor: desc: " : "mluOpCreate: handle: "));
    }
  });
}

TEST(instruction_level_is_not_above_the_one_asked_for) {
  const char *asked = std::getenv("PYMLUOPS_INSTRUCTION_LEVEL");
  const std::string level = mluopsExtGetInstructionLevel();
  CHECK(!level.empty());
  if (asked != nullptr) CHECK(level <= asked);  // the names sort as the levels do
}

TEST(handles_work_in_parallel) {
  std::vector<std::vector<float>> results(kThreads);
  on_threads(kThreads, [&](int thread) {
    const Handle handle;
    std::mt19937 random(13);
    Tensor<float> input({3, 7, 12, 157}), output({3, 7, 12, 157});
    Tensor<std::int32_t> shifts({3, 4});
    input.fill_uniform(random, -1, 1);
    shifts.fill_integers(random, -8, 8);
    for (int i = 0; i < 5; ++i) {
      CHECK_EQ(mluOpTinShiftForward(handle, input.desc, input.data, shifts.desc, shifts.data, output.desc, output.data),
               MLUOP_STATUS_SUCCESS);
    }
    results[static_cast<std::size_t>(thread)] = output.copy();
  });
  for (const auto &result : results) CHECK(result == results[0]);
}

int main(int count, char **arguments) { return harness::run_all(count, arguments); }
