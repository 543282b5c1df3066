// Failed allocations: ALLOC_FAILED with a reason, no leak and no partly created object.
//
// The program replaces operator new and, with the linker's --wrap, malloc, calloc, aligned_alloc
// and pthread_create of the library's objects. The n-th allocation of a call fails, for n = 1, 2,
// ... until the call needs fewer.
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <string>
#include <thread>

#include "problems.h"

extern "C" void *__real_calloc(std::size_t count, std::size_t size);
extern "C" void *__wrap_calloc(std::size_t count, std::size_t size);
using Start = void *(*)(void *);
extern "C" int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, Start start, void *argument);
extern "C" int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, Start start, void *argument);
extern "C" void *__real_malloc(std::size_t size);
extern "C" void *__wrap_malloc(std::size_t size);
extern "C" void *__real_aligned_alloc(std::size_t alignment, std::size_t size);
extern "C" void *__wrap_aligned_alloc(std::size_t alignment, std::size_t size);

namespace {

thread_local long allocations_left = -1;  // allocations before the failing one; negative: none fails
thread_local bool refused = false;
thread_local bool all_others_too = false;  // whether later ones fail too

bool allowed() {
  if (allocations_left < 0) return true;
  if (allocations_left-- > 0) return true;
  if (all_others_too) allocations_left = 0;
  refused = true;
  return false;
}

}  // namespace

void *__wrap_malloc(std::size_t size) { return allowed() ? __real_malloc(size) : nullptr; }

void *__wrap_aligned_alloc(std::size_t alignment, std::size_t size) {
  return allowed() ? __real_aligned_alloc(alignment, size) : nullptr;
}

void *__wrap_calloc(std::size_t count, std::size_t size) { return allowed() ? __real_calloc(count, size) : nullptr; }

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, Start start, void *argument) {
  return allowed() ? __real_pthread_create(thread, attributes, start, argument) : EAGAIN;
}

// Not inlined: otherwise GCC warns that free() is called on the result of a new expression.
#define MLUOPS_NOT_INLINED __attribute__((noinline))

MLUOPS_NOT_INLINED void *operator new(std::size_t size) {
  void *memory = allowed() ? __real_malloc(size > 0 ? size : 1) : nullptr;
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

MLUOPS_NOT_INLINED void operator delete(void *memory) noexcept { std::free(memory); }
MLUOPS_NOT_INLINED void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }

using namespace objects;
using namespace problems;

namespace {

// Calls `call` with increasing numbers of allowed allocations. Returns how many calls failed before
// one succeeded.
template <typename Call, typename AfterFailure>
int until_it_succeeds(const char *function, const Call &call, const AfterFailure &after_failure) {
  for (int failed = 0; failed < 1000; ++failed) {
    allocations_left = failed;
    all_others_too = true;
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
  // Objects are allocated in slabs, so more are created than a slab holds.
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

// Objects come in slabs, so more are made than one holds.
template <typename Object>
void settings_object(const char *function, mluOpStatus_t create(Object *), mluOpStatus_t destroy(Object)) {
  int failed = 0;
  std::vector<Object> objects(300);
  for (Object &object : objects) {
    failed += until_it_succeeds(function, [&] { return create(&object); }, [&] { CHECK(object == nullptr); });
  }
  CHECK(failed > 0);
  for (const Object &object : objects) CHECK_EQ(destroy(object), MLUOP_STATUS_SUCCESS);
}

TEST(settings_objects) {
  settings_object("mluOpCreateCarafeDescriptor", mluOpCreateCarafeDescriptor, mluOpDestroyCarafeDescriptor);
  settings_object("mluOpCreateNmsDescriptor", mluOpCreateNmsDescriptor, mluOpDestroyNmsDescriptor);
  settings_object("mluOpCreateRoiAlignForwardDescriptor", mluOpCreateRoiAlignForwardDescriptor,
                  mluOpDestroyRoiAlignForwardDescriptor);
  settings_object("mluOpCreateAdamWDescriptor", mluOpCreateAdamWDescriptor, mluOpDestroyAdamWDescriptor);
  settings_object("mluOpCreateDCNDescriptor", mluOpCreateDCNDescriptor, mluOpDestroyDCNDescriptor);
  settings_object("mluOpCreateFFTPlan", mluOpCreateFFTPlan, mluOpDestroyFFTPlan);
}

TEST(gen_case_directory) {
  const std::string first = "/a/directory/of/the/first/name", second(500, 'x');
  CHECK_EQ(mluOpSetGenCaseDirectory(first.c_str()), MLUOP_STATUS_SUCCESS);
  char *found = nullptr;
  mluOpStatus_t status = MLUOP_STATUS_SUCCESS;
  std::size_t length = 1;
  const auto get = [&] {
    found = const_cast<char *>(mluOpGetGenCaseDirectory(nullptr, 0, &length, &status));
    return status;
  };
  const int failed_to_get = until_it_succeeds("mluOpGetGenCaseDirectory", get, [&] {
    CHECK(found == nullptr);
    CHECK_EQ(length, std::size_t{0});
  });
  CHECK(failed_to_get > 0);
  CHECK_EQ(std::string(found), first);
  std::free(found);
  const int failed_to_set = until_it_succeeds(
      "mluOpSetGenCaseDirectory", [&] { return mluOpSetGenCaseDirectory(second.c_str()); },
      [&] {
        get();
        CHECK_EQ(std::string(found), first);
        std::free(found);
      });
  CHECK(failed_to_set > 0);
  CHECK_EQ(mluOpSetGenCaseDirectory(""), MLUOP_STATUS_SUCCESS);
}

TEST(groups_are_created_whole_or_not_at_all) {
  constexpr int kCount = 3000;  // more than other tests have freed
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

// Missing threads are replaced by the caller; any other failure is reported before anything is
// written.
TEST(operators) {
  const Handle handle;
  CHECK_EQ(mluopsExtSetNumThreads(3), MLUOP_STATUS_SUCCESS);
  int failed = 0;
  for (const ProblemPointer &problem : all_of("ways_400")) {
    CHECK_EQ(problem->call(handle), MLUOP_STATUS_SUCCESS);
    const std::vector<char> wanted = problem->results();
    refused = true;
    for (int n = 0; refused && n < 100; ++n) {
      problem->scrub();
      const std::vector<char> before = problem->results();
      refused = all_others_too = false;
      allocations_left = n;
      const mluOpStatus_t status = problem->call(handle);
      allocations_left = -1;
      CHECK(problem->intact());
      CHECK(problem->results() == (status == MLUOP_STATUS_SUCCESS ? wanted : before));
      if (status == MLUOP_STATUS_SUCCESS) continue;
      ++failed;
      CHECK_EQ(status, MLUOP_STATUS_ALLOC_FAILED);
      CHECK_EQ(std::string(mluopsExtGetLastReason()), problem->function + ": out of memory");
    }
    CHECK(!refused);
  }
  CHECK(failed > 5);
}

namespace {

// Runs `work` in a child, which has no workers yet, and returns its exit status.
template <typename Work>
int in_child(const Work &work) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int status = -1;
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  return status;
}

}  // namespace

TEST(operators_work_without_workers) {
  const Handle handle;
  const ProblemPointer problem = one_of("phases", 1);
  CHECK_EQ(mluopsExtSetNumThreads(5), MLUOP_STATUS_SUCCESS);
  CHECK_EQ(problem->call(handle), MLUOP_STATUS_SUCCESS);
  const std::vector<char> wanted = problem->results();
  for (int started = 0; started < 5; ++started) {
    problem->scrub();
    const int ended = in_child([&] {
      all_others_too = true;
      refused = false;
      allocations_left = started;
      const mluOpStatus_t status = problem->call(handle);
      allocations_left = -1;
      if (status != MLUOP_STATUS_SUCCESS || refused != (started < 4)) return 1;
      return problem->results() == wanted ? 0 : 2;
    });
    CHECK_EQ(ended, 0);
  }
}

// A thread's first reason needs a buffer as well.
TEST(a_thread_without_memory_gets_a_reason) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 20; ++i) {
    threads.emplace_back([] {
      all_others_too = true;
      allocations_left = 0;
      int major = 0;
      CHECK_EQ(mluOpCreateTensorDescriptor(nullptr), MLUOP_STATUS_BAD_PARAM);
      mluOpGetLibVersion(&major, nullptr, nullptr);
      allocations_left = -1;
      CHECK_EQ(major, MLUOP_MAJOR);
      CHECK(std::string(mluopsExtGetLastReason()).rfind("mluOpCreateTensorDescriptor: desc: expected ", 0) == 0);
    });
  }
  for (std::thread &thread : threads) thread.join();
}

int main(int count, char **arguments) { return harness::run_all(count, arguments); }
