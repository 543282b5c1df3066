#include "cpu/pool.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <new>

#include "cpu/call.h"
#include "cpu/process.h"

namespace mluops {
namespace {

// One running parallel_for. It lives on the stack of its caller, which waits until no worker uses
// it.
//
// The indices are divided into parts, one per slot up to kMostParts. A thread starts with the part
// of its slot and then helps with the others.
class Job {
 public:
  Job(std::int64_t count, std::int64_t piece, int slots, RangeFunction function, void *context)
      : call(thread_state().call),
        helpers_wanted(slots - 1),
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

  // A free slot: the worker's own number if that is free. The pool's mutex must be held.
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
        if (interrupted()) return exhausted_.store(true, std::memory_order_relaxed);
        function_(context_, slot, begin, std::min(begin + piece_, part.end));
      }
    }
    exhausted_.store(true, std::memory_order_relaxed);
  }

  Call *const call;                    // NULL outside of one
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

int current_processor() {
#if defined(__linux__)
  return sched_getcpu();
#else
  return -1;
#endif
}

// Linux may wake a helper on its caller's processor, mostly in virtual machines whose other
// processors are halted, and may leave it there for milliseconds. The helper would run after the
// caller has done all the work. So it moves to another allowed processor.
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

bool on_main_thread() {
#if defined(__linux__)
  enum Known : int {
    kNothing,
    kMain,
    kOther
  };
  static thread_local Known known __attribute__((tls_model("initial-exec"))) = kNothing;
  if (known == kNothing) known = syscall(SYS_gettid) == getpid() ? kMain : kOther;
  return known == kMain;
#else
  return false;
#endif
}

class Pool {
 public:
  Pool() {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&done_, &attributes);
    pthread_condattr_destroy(&attributes);
  }

  void run(Job *job) {
    const int forks = forks_.load(std::memory_order_relaxed);
    processor_.store(current_processor(), std::memory_order_relaxed);
    if (const mluopsExtTeam team = team_of(thread_count())) return run_on(team, job, forks);
    pthread_mutex_lock(&mutex_);
    job->following = jobs_;
    jobs_ = job;
    start_workers(job->helpers_wanted);
    pending_.store(true, std::memory_order_release);
    const bool woken = sleeping_ != 0;
    if (woken) pthread_cond_broadcast(&work_);
    pthread_mutex_unlock(&mutex_);
    if (woken) sched_yield();  // lets a helper that woke up on this processor leave it

    if (!work_first(job, forks)) return;
    pthread_mutex_lock(&mutex_);
    remove(job);
    pthread_mutex_unlock(&mutex_);
    wait_for_helpers_of(job, forks);
  }

  // In the child of a fork.
  static void count_fork() {
    forks_.fetch_add(1, std::memory_order_relaxed);
    team_.store(nullptr, std::memory_order_relaxed);
  }

  static void set_team(mluopsExtTeam team, int threads) {
    // A runtime that was used before a fork waits for threads that the child does not have, also in
    // a child that loaded this library after the fork, in which no fork was counted.
    if (team != nullptr && (forks_.load(std::memory_order_relaxed) != 0 || begun_by_fork())) return;
    team_threads_.store(threads, std::memory_order_relaxed);
    team_.store(team, std::memory_order_relaxed);
  }

 private:
  // The caller's part of the work. False: the interrupt check forked and this is the child, in
  // which neither the helpers nor the rest of the job exist.
  static bool work_first(Job *job, int forks) {
    thread_state().inside_job = true;
    job->work(0);
    thread_state().inside_job = false;
    return forks == forks_.load(std::memory_order_relaxed);
  }

  // The job is exhausted, so that no helper joins it anymore.
  void wait_for_helpers_of(Job *job, int forks) {
    // Spin first: the last helper is finishing its last piece, and sleeping would take longer.
    spin(kRoundsForHelpers, [job] { return job->helpers_inside.load(std::memory_order_acquire) == 0; });
    pthread_mutex_lock(&mutex_);
    while (job->helpers_inside > 0) {
      if (!interruptible()) {
        pthread_cond_wait(&done_, &mutex_);
      } else if (!wait_for_helpers()) {
        pthread_mutex_unlock(&mutex_);
        interrupted();
        if (forks != forks_.load(std::memory_order_relaxed)) return;
        pthread_mutex_lock(&mutex_);
      }
    }
    pthread_mutex_unlock(&mutex_);
  }

  // A job whose helpers are a team.
  struct TeamJob {
    Pool *pool;
    Job *job;
    int forks;
    pthread_t caller;
    bool caller_worked;
    jmp_buf child;  // where the child of a fork continues
  };

  // OpenMP starts threads for each thread with regions; for several callers they would be too many.
  static mluopsExtTeam team_of(int threads) {
    const mluopsExtTeam team = team_.load(std::memory_order_relaxed);
    return team != nullptr && team_threads_.load(std::memory_order_relaxed) == threads && on_main_thread() ? team
                                                                                                           : nullptr;
  }

  // The team always has the same size: OpenMP ends threads that a smaller team does not use.
  void run_on(mluopsExtTeam team, Job *job, int forks) {
    TeamJob shared = {this, job, forks, pthread_self(), false, {}};
    if (setjmp(shared.child) != 0) return;
    team(be_member, &shared, static_cast<unsigned>(thread_count()), 0);
    // A team that called no member on this thread leaves the work, or the rest of it, to the
    // caller.
    if (!shared.caller_worked && work_first(job, forks)) wait_for_helpers_of(job, forks);
  }

  static void be_member(void *argument) {
    TeamJob &shared = *static_cast<TeamJob *>(argument);
    if (!pthread_equal(shared.caller, pthread_self())) return shared.pool->help(shared.job);
    shared.caller_worked = true;
    if (work_first(shared.job, shared.forks)) shared.pool->wait_for_helpers_of(shared.job, shared.forks);
    // In the child of a fork the team does not exist, but the caller would wait for it.
    if (shared.forks != forks_.load(std::memory_order_relaxed)) longjmp(shared.child, 1);
  }

  // Helps with this job only: the caller waits for all members of its team.
  void help(Job *job) {
    static thread_local int number __attribute__((tls_model("initial-exec"))) = 0;
    pthread_mutex_lock(&mutex_);
    if (number == 0) number = ++numbered_;
    if (job->helpers_wanted > 0 && !job->exhausted()) {
      thread_state().inside_job = true;
      help_with(job, number);
      thread_state().inside_job = false;
    }
    pthread_mutex_unlock(&mutex_);
  }

  // Rounds of spinning before sleeping, each of about a microsecond: enough to bridge the gap
  // between calls in a loop over small operators, or the end of a piece.
  static constexpr int kRoundsForWork = 200, kRoundsForHelpers = 50;

  // Waits until a helper leaves; false when the interrupt check is due.
  bool wait_for_helpers() {
    timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += kInterruptMilliseconds * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return pthread_cond_timedwait(&done_, &mutex_, &until) == 0;
  }

  static void *worker(void *pool) {
    thread_state().inside_job = true;
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
        // A late worker spins again, since another job usually follows.
        if (!found && !pending_.load(std::memory_order_relaxed)) {
          ++sleeping_;
          pthread_cond_wait(&work_, &mutex_);
          --sleeping_;
        }
        continue;
      }
      help_with(job, number);
    }
  }

  // The mutex must be held, and is held again afterwards.
  void help_with(Job *job, int number) {
    --job->helpers_wanted;
    ++job->helpers_inside;
    const int slot = job->take_slot(number);
    pthread_mutex_unlock(&mutex_);
    leave_processor(processor_.load(std::memory_order_relaxed));
    thread_state().call = job->call;
    job->work(slot);
    thread_state().call = nullptr;
    pthread_mutex_lock(&mutex_);
    if (--job->helpers_inside == 0) pthread_cond_broadcast(&done_);
  }

  // Each round yields, because hypervisors deschedule a virtual CPU that only pauses. Returns
  // whether the condition became true.
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

  // If a thread cannot be started, the caller does its share.
  void start_workers(int wanted) {
    if (workers_ >= wanted) return;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // the program's threads handle signals
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, kStackBytes);
    while (workers_ < wanted && start_worker(&attributes)) ++workers_;
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  // Kernels need about ten KiB of stack, sanitizers several times that. Static TLS of the process
  // is part of it: if it does not fit, the default size is used.
  static constexpr std::size_t kStackBytes = 1 << 20;

  bool start_worker(pthread_attr_t *attributes) {
    pthread_t thread;
    int error = pthread_create(&thread, attributes, worker, this);
    if (error == EINVAL && pthread_attr_destroy(attributes) == 0 && pthread_attr_init(attributes) == 0) {
      pthread_attr_setdetachstate(attributes, PTHREAD_CREATE_DETACHED);
      error = pthread_create(&thread, attributes, worker, this);
    }
    return error == 0;
  }

  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t work_ = PTHREAD_COND_INITIALIZER;
  pthread_cond_t done_;
  std::atomic<bool> pending_{false};
  std::atomic<int> processor_{-1};  // processor of the last caller, -1 if unknown
  Job *jobs_ = nullptr;
  int workers_ = 0;
  int numbered_ = 0;               // workers started so far
  int sleeping_ = 0;               // workers waiting for work_
  static std::atomic<int> forks_;  // number of forks since the pool was created
  static std::atomic<mluopsExtTeam> team_;
  static std::atomic<int> team_threads_;
};

std::atomic<int> Pool::forks_{0};
std::atomic<mluopsExtTeam> Pool::team_{nullptr};
std::atomic<int> Pool::team_threads_{0};

// The pool is in static memory and never destroyed: workers may sleep in it when the process ends.
alignas(Pool) unsigned char pool_memory[sizeof(Pool)];

// The child of a fork has no workers, and threads that do not exist there may hold the locks: the
// pool is recreated.
void reset_in_child() {
  new (pool_memory) Pool;
  Pool::count_fork();
  Call::interrupt_all();
  thread_state().inside_job = false;
}

Pool &pool() {
  static const bool ready = [] {
    new (pool_memory) Pool;
    pthread_atfork(nullptr, nullptr, reset_in_child);
    return true;
  }();
  (void)ready;
  return *reinterpret_cast<Pool *>(pool_memory);
}

void run_job(std::int64_t count, std::int64_t piece, int slots, RangeFunction function, void *context) {
  if (slots <= 1) {
    for (std::int64_t begin = 0; begin < count && (begin == 0 || !interrupted()); begin += piece) {
      function(context, 0, begin, std::min(begin + piece, count));
    }
    return;
  }
  Job job(count, piece, slots, function, context);
  pool().run(&job);
}

}  // namespace

void prepare_pool() { pool(); }

// The pool must see forks from now on.
void set_team(mluopsExtTeam team, int threads) {
  prepare_pool();
  Pool::set_team(team, threads);
}

void run_parallel(std::int64_t count, std::int64_t grain, RangeFunction function, void *context) {
  if (count <= 0) return;
  grain = std::max<std::int64_t>(grain, 1);
  if (count <= grain) return function(context, 0, 0, count);
  const std::int64_t most = (count - 1) / grain + 1;
  const int slots = thread_state().inside_job ? 1 : static_cast<int>(std::min<std::int64_t>(thread_count(), most));
  // Several pieces per thread balance uneven work and uneven threads. The limit on grains keeps
  // interrupts responsive.
  constexpr std::int64_t kPiecesPerThread = 8, kMostGrains = 64;
  const std::int64_t longest = grain > count / kMostGrains ? count : grain * kMostGrains;
  const std::int64_t wanted = slots > 1 ? count / (slots * kPiecesPerThread) : count;
  run_job(count, std::max(grain, std::min(wanted, longest)), slots, function, context);
}

void run_in_slots(std::int64_t count, std::int64_t slots, RangeFunction function, void *context) {
  if (count <= 0) return;
  const std::int64_t most = std::min<std::int64_t>(std::min(slots, count), kMaxThreads);
  const int used = thread_state().inside_job ? 1 : static_cast<int>(most);
  // A single thread takes several indices at a time.
  constexpr std::int64_t kAlone = 16;
  run_job(count, used > 1 ? 1 : kAlone, used, function, context);
}

}  // namespace mluops
