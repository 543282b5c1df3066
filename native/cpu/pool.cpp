#include "cpu/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

#include "cpu/cpu_count.h"

namespace mluops {
namespace {

// One parallel_for in flight. It lives on the stack of its caller, who leaves only when no helper is inside any more.
//
// The indices are cut into parts, one for each slot as long as there are few. Whoever has a slot begins with its part, and then
// helps with the others.
class Job {
 public:
  Job(std::int64_t count, std::int64_t piece, int slots, RangeFunction function, void *context)
      : helpers_wanted(slots - 1),
        function_(function),
        context_(context),
        piece_(piece),
        slots_(slots),
        part_count_(std::min(slots, kMostParts)) {
    for (int i = 0; i < part_count_; ++i) {
      parts_[i].next.store(begin_of(i, count), std::memory_order_relaxed);
      parts_[i].end = begin_of(i + 1, count);
    }
  }

  bool exhausted() const { return exhausted_.load(std::memory_order_relaxed); }

  // A slot that nobody has; that of the worker's own number if there is one. To be called under the pool's mutex.
  int take_slot(int worker) {
    if (worker >= slots_ || taken(worker)) {
      for (worker = 1; taken(worker);) ++worker;
    }
    taken_[worker / 64] |= std::uint64_t{1} << worker % 64;
    return worker;
  }

  void work(int slot) {
    for (int i = 0; i < part_count_; ++i) {
      Part &part = parts_[(slot + i) % part_count_];
      for (;;) {
        const std::int64_t begin = part.next.fetch_add(piece_, std::memory_order_relaxed);
        if (begin >= part.end) break;
        function_(context_, slot, begin, std::min(begin + piece_, part.end));
      }
    }
    exhausted_.store(true, std::memory_order_relaxed);
  }

  int helpers_wanted;                  // guarded by the pool's mutex
  std::atomic<int> helpers_inside{0};  // changed under the pool's mutex
  Job *following = nullptr;

 private:
  static constexpr int kMostParts = 64;
  struct alignas(64) Part {
    std::atomic<std::int64_t> next;
    std::int64_t end;
  };

  std::int64_t begin_of(int part, std::int64_t count) const {
    return count / part_count_ * part + std::min<std::int64_t>(part, count % part_count_);
  }
  bool taken(int slot) const { return (taken_[slot / 64] >> slot % 64 & 1) != 0; }

  const RangeFunction function_;
  void *const context_;
  const std::int64_t piece_;
  const int slots_, part_count_;
  std::atomic<bool> exhausted_{false};
  std::uint64_t taken_[kMaxThreads / 64] = {};  // guarded by the pool's mutex
  Part parts_[kMostParts];                      // only the first ones have values
};

thread_local bool inside_job = false;

int current_processor() {
#if defined(__linux__)
  return sched_getcpu();
#else
  return -1;
#endif
}

// Linux may wake a helper on its caller's processor, most of all in a virtual machine whose other processors are halted, and leave
// it there for milliseconds: it would run when the caller has done all the work. So it leaves, if it may run anywhere else.
void leave_processor(int processor) {
#if defined(__linux__)
  if (processor < 0 || processor >= CPU_SETSIZE || sched_getcpu() != processor) return;
  cpu_set_t usual;
  if (sched_getaffinity(0, sizeof usual, &usual) != 0 || CPU_COUNT(&usual) < 2) return;
  cpu_set_t others = usual;
  CPU_CLR(static_cast<std::size_t>(processor), &others);
  if (sched_setaffinity(0, sizeof others, &others) == 0) sched_setaffinity(0, sizeof usual, &usual);
#else
  (void)processor;
#endif
}

class Pool {
 public:
  void run(Job *job) {
    pthread_mutex_lock(&mutex_);
    job->following = jobs_;
    jobs_ = job;
    start_workers(job->helpers_wanted);
    processor_.store(current_processor(), std::memory_order_relaxed);
    pending_.store(true, std::memory_order_release);
    const bool woken = sleeping_ != 0;
    if (woken) pthread_cond_broadcast(&work_);
    pthread_mutex_unlock(&mutex_);
    if (woken) sched_yield();  // whoever was woken up on this very processor gets the chance to leave it

    inside_job = true;
    job->work(0);
    inside_job = false;

    pthread_mutex_lock(&mutex_);
    remove(job);
    pthread_mutex_unlock(&mutex_);
    // The last helper is at its last piece: to sleep and to be woken would take longer.
    spin(kRoundsForHelpers, [job] { return job->helpers_inside.load(std::memory_order_acquire) == 0; });
    pthread_mutex_lock(&mutex_);
    while (job->helpers_inside > 0) pthread_cond_wait(&done_, &mutex_);
    pthread_mutex_unlock(&mutex_);
  }

 private:
  // Rounds of spinning before sleeping, each of about a microsecond: so many cover the gap between the calls of a loop over small
  // operators, or the end of a piece.
  static constexpr int kRoundsForWork = 200, kRoundsForHelpers = 50;

  static void *worker(void *pool) {
    inside_job = true;
    static_cast<Pool *>(pool)->serve();
    return nullptr;
  }

  void serve() {
    pthread_mutex_lock(&mutex_);
    const int number = ++numbered_;
    for (;;) {
      Job *job = find_job();
      if (job == nullptr) {
        pending_.store(false, std::memory_order_relaxed);
        pthread_mutex_unlock(&mutex_);
        leave_processor(processor_.load(std::memory_order_relaxed));
        const bool found = spin(kRoundsForWork, [this] { return pending_.load(std::memory_order_acquire); });
        pthread_mutex_lock(&mutex_);
        // Who comes too late for the work that it was woken for does not go back to sleep at once: the next is likely to follow.
        if (!found && !pending_.load(std::memory_order_relaxed)) {
          ++sleeping_;
          pthread_cond_wait(&work_, &mutex_);
          --sleeping_;
        }
        continue;
      }
      --job->helpers_wanted;
      ++job->helpers_inside;
      const int slot = job->take_slot(number);
      pthread_mutex_unlock(&mutex_);
      leave_processor(processor_.load(std::memory_order_relaxed));
      job->work(slot);
      pthread_mutex_lock(&mutex_);
      if (--job->helpers_inside == 0) pthread_cond_broadcast(&done_);
    }
  }

  // Virtual machines take the processor away from who does nothing but pause, so every round ends with an offer to let others run.
  // Returns whether the condition came true.
  template <typename Condition>
  static bool spin(int rounds, const Condition &condition) {
    constexpr int kLooksPerRound = 16;
    for (int i = 0; i < rounds; ++i) {
      for (int look = 0; look < kLooksPerRound; ++look) {
        if (condition()) return true;
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
      }
      sched_yield();
    }
    return false;
  }

  Job *find_job() const {
    for (Job *job = jobs_; job != nullptr; job = job->following) {
      if (job->helpers_wanted > 0 && !job->exhausted()) return job;
    }
    return nullptr;
  }

  void remove(Job *job) {
    Job **link = &jobs_;
    while (*link != job) link = &(*link)->following;
    *link = job->following;
  }

  // A thread that cannot be started is not missed: the caller does its share.
  void start_workers(int wanted) {
    if (workers_ >= wanted) return;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // signals belong to the threads of the program
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread;
    while (workers_ < wanted && pthread_create(&thread, &attributes, worker, this) == 0) ++workers_;
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t work_ = PTHREAD_COND_INITIALIZER;
  pthread_cond_t done_ = PTHREAD_COND_INITIALIZER;
  std::atomic<bool> pending_{false};
  std::atomic<int> processor_{-1};  // where the last caller ran, -1 if that is not known
  Job *jobs_ = nullptr;
  int workers_ = 0;
  int numbered_ = 0;  // workers that have begun
  int sleeping_ = 0;  // workers that wait for work_
};

// The pool lives in static memory and is never destroyed: workers sleep in it when the process ends.
alignas(Pool) unsigned char pool_memory[sizeof(Pool)];
std::atomic<int> threads{0};

// The child of a fork has none of the workers, and locks may be held by threads that it does not have: start afresh.
void start_afresh() {
  new (pool_memory) Pool;
  inside_job = false;
}

Pool &pool() {
  static const bool ready = [] {
    new (pool_memory) Pool;
    pthread_atfork(nullptr, nullptr, start_afresh);
    return true;
  }();
  (void)ready;
  return *reinterpret_cast<Pool *>(pool_memory);
}

int initial_thread_count() {
  const char *text = std::getenv("PYMLUOPS_NUM_THREADS");
  if (text != nullptr) {
    char *end = nullptr;
    const long value = std::strtol(text, &end, 10);
    if (end != text && *end == '\0' && value >= 1 && value <= kMaxThreads) return static_cast<int>(value);
  }
  return std::min(usable_cpus(), kMaxThreads);
}

}  // namespace

int thread_count() {
  int count = threads.load(std::memory_order_relaxed);
  if (count == 0) {
    int unset = 0;
    count = initial_thread_count();
    if (!threads.compare_exchange_strong(unset, count)) count = unset;
  }
  return count;
}

void set_thread_count(int count) { threads.store(count, std::memory_order_relaxed); }

namespace {

void run_job(std::int64_t count, std::int64_t piece, int slots, RangeFunction function, void *context) {
  if (slots <= 1) {
    function(context, 0, 0, count);
    return;
  }
  Job job(count, piece, slots, function, context);
  pool().run(&job);
}

}  // namespace

void run_parallel(std::int64_t count, std::int64_t grain, RangeFunction function, void *context) {
  if (count <= 0) return;
  grain = std::max<std::int64_t>(grain, 1);
  const std::int64_t most = (count + grain - 1) / grain;
  const int slots = inside_job ? 1 : static_cast<int>(std::min<std::int64_t>(thread_count(), most));
  // Several pieces a thread even out unequal work and unequal threads.
  constexpr std::int64_t kPiecesPerThread = 8;
  run_job(count, std::max(grain, count / (slots * kPiecesPerThread)), slots, function, context);
}

void run_in_slots(std::int64_t count, std::int64_t slots, RangeFunction function, void *context) {
  if (count <= 0) return;
  const std::int64_t most = std::min<std::int64_t>(std::min(slots, count), kMaxThreads);
  run_job(count, 1, inside_job ? 1 : static_cast<int>(most), function, context);
}

}  // namespace mluops
