// The checked longjmp of hardened builds takes a jump from one stack to another for an error.
#undef _FORTIFY_SOURCE

#include "machine/fiber.h"

#include <setjmp.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "machine/array.h"
#include "machine/asan.h"
#include "machine/heap.h"
#include "machine/missing_memory.h"
#include "machine/model.h"
#include "mlusim_source.h"

// The storage of the builtin variables; kernels see them as constants.
extern "C" {
MLUSIM_API int mlusim_taskId = 0;
MLUSIM_API int mlusim_taskIdX = 0;
MLUSIM_API int mlusim_taskIdY = 0;
MLUSIM_API int mlusim_taskIdZ = 0;
MLUSIM_API int mlusim_coreId = 0;
MLUSIM_API int mlusim_clusterId = 0;
}

namespace mlusim {

std::atomic<int> g_attention{0};
volatile int Unstoppable::g_depth = 0;

namespace {

ucontext_t g_scheduler;
void *g_scheduler_asan_state = nullptr;
Range g_scheduler_stack;  // known while the address sanitizer is there
sigjmp_buf g_way_out;
Core *g_core = nullptr;
void (*g_run)(Core &) = nullptr;
bool g_trapped = false;
Crash g_crash;
timer_t g_timer;
std::atomic<pid_t> g_timer_thread{0};
std::atomic<bool> g_handles_signals{false};

constexpr int kFaults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
constexpr int kMostSignals = 65;
struct sigaction g_previous[kMostSignals];

bool on_stack_of(const Core &core, const void *frame) { return core.stack.holds(frame); }

void fiber_main() {
  asan_arrived(nullptr, &g_scheduler_stack);
  for (;;) {
    Core &core = *g_core;
    g_run(core);
    yield_to_scheduler(core);
  }
}

void start_fiber(Core &core) {
  getcontext(&core.context);
  core.context.uc_stack.ss_sp = core.stack.begin;
  core.context.uc_stack.ss_size = core.stack.size();
  core.context.uc_link = nullptr;
  makecontext(&core.context, fiber_main, 0);
  core.started = true;
  core.asan_state = nullptr;
  asan_clear(core.stack);  // of what frames left there that never ended
}

void set_builtins(const Core &core) {
  mlusim_taskId = core.task_id;
  mlusim_taskIdX = core.task_x;
  mlusim_taskIdY = core.task_y;
  mlusim_taskIdZ = core.task_z;
  mlusim_coreId = core.core_id;
  mlusim_clusterId = core.cluster;
}

const void *program_counter(const ucontext_t &context) {
#if defined(__x86_64__)
  const auto pc = static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  const auto pc = static_cast<std::uintptr_t>(context.uc_mcontext.pc);
#else
#error "the simulator knows the registers of x86-64 and aarch64"
#endif
  return reinterpret_cast<const void *>(pc + 1);  // like a return address: behind the instruction
}

const void *stack_pointer(const ucontext_t &context) {
#if defined(__x86_64__)
  return reinterpret_cast<const void *>(context.uc_mcontext.gregs[REG_RSP]);
#else
  return reinterpret_cast<const void *>(context.uc_mcontext.sp);
#endif
}

// A core that runs out of its stack is below it by less than this.
constexpr std::ptrdiff_t kStackReach = 1 << 20;

bool from_core(const ucontext_t &context) {
  if (g_core == nullptr || syscall(SYS_gettid) != g_timer_thread) return false;
  const char *sp = static_cast<const char *>(stack_pointer(context));
  return sp >= g_core->stack.begin - kStackReach && sp <= g_core->stack.end;
}

void explain_host_fault(const void *address) {
  const Location location = locate(address);
  if (location.space == Space::kHost) return;
  char text[256];
  const int length =
      std::snprintf(text, sizeof text,
                    "mlusim: host code touched device memory at %p (%s); copy it with cnrtMemcpy, or wait "
                    "for the kernel that should have touched it\n",
                    address, name_of(location.space));
  if (length > 0 && write(STDERR_FILENO, text, static_cast<std::size_t>(length)) < 0) return;
}

void hand_on(int signal, siginfo_t *info, void *context) {
  const struct sigaction &previous = g_previous[signal];
  if ((previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
  } else {
    sigaction(signal, &previous, nullptr);  // the fault happens again and has its usual end
  }
}

// Whether the access that failed was a load; true where the machine does not tell.
bool is_load([[maybe_unused]] const ucontext_t &context) {
#if defined(__x86_64__)
  constexpr greg_t kIsStore = 2;
  return (context.uc_mcontext.gregs[REG_ERR] & kIsStore) == 0;
#else
  return true;
#endif
}

// The first touch of what a memory core has in place of NRAM and WRAM.
bool gave_scratch(const void *address, const ucontext_t &context) {
  Core &core = *g_core;
  if (!core.is_scratch(address) || core.scratch_open) return false;
  core.scratch_open = open_scratch(core.nram) && open_scratch(core.wram);
  if (is_load(context)) note_missing_read(core);
  ask_for_undoing(true);
  return core.scratch_open;
}

void handle_fault(int signal, siginfo_t *info, void *context) {
  const auto &state = *static_cast<const ucontext_t *>(context);
  if (!from_core(state)) {
    explain_host_fault(info->si_addr);
    hand_on(signal, info, context);
    return;
  }
  if (gave_scratch(info->si_addr, state)) return;
  g_crash = {signal, info->si_addr, program_counter(state), false};
  asan_leave(nullptr, g_scheduler_stack);
  siglongjmp(g_way_out, 1);
}

// The first time, code that the simulator sees will notice. A second time means that the kernel runs in registers only, or in one
// long intrinsic, where it can be left at any point.
void handle_stop(int, siginfo_t *info, void *context) {
  const int saved = errno;
  const auto &state = *static_cast<const ucontext_t *>(context);
  const int reason = info->si_code == SI_TIMER ? kTimeLimit : kInterrupt;
  const int known = reason == kTimeLimit ? g_attention.fetch_or(kTimeLimit) : g_attention.load();
  if ((known & reason) != 0 && !Unstoppable::any() && from_core(state)) {
    g_crash = {SIGALRM, nullptr, program_counter(state), true};
    errno = saved;
    asan_leave(nullptr, g_scheduler_stack);
    siglongjmp(g_way_out, 1);
  }
  errno = saved;
}

void install(int signal, void (*handler)(int, siginfo_t *, void *)) {
  struct sigaction present = {};
  sigaction(signal, nullptr, &present);
  if ((present.sa_flags & SA_SIGINFO) != 0 && present.sa_sigaction == handler) return;
  g_previous[signal] = present;
  struct sigaction action = {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

// A stack for handlers of this thread: a core's own may be what ran out.
void ensure_handler_stack() {
  static char *memory = nullptr;
  constexpr std::size_t kBytes = 64 * 1024;
  if (memory == nullptr) memory = new char[kBytes];
  stack_t stack = {};
  stack.ss_sp = memory;
  stack.ss_size = kBytes;
  sigaltstack(&stack, nullptr);
}

int stop_signal() { return SIGRTMIN + 9; }

void set_timer(double seconds) {
  struct itimerspec when = {};
  when.it_value.tv_sec = static_cast<time_t>(seconds);
  when.it_value.tv_nsec = static_cast<long>((seconds - static_cast<double>(when.it_value.tv_sec)) * 1e9);
  when.it_interval = when.it_value;
  timer_settime(g_timer, 0, &when, nullptr);
}

}  // namespace

Core *current_core() {
  Core *core = g_core;
  return core != nullptr && on_stack_of(*core, __builtin_frame_address(0)) ? core : nullptr;
}

Stop resume(Core &core, void (*run)(Core &core)) {
  g_run = run;
  g_trapped = false;
  if (!core.started) start_fiber(core);
  set_builtins(core);
  bind_arrays(core);
  Unstoppable::forget();
  g_core = &core;
  const bool crashed = sigsetjmp(g_way_out, 1) != 0;
  if (!crashed) {
    asan_leave(&g_scheduler_asan_state, core.stack);
    swapcontext(&g_scheduler, &core.context);
  }
  asan_arrived(g_scheduler_asan_state, nullptr);
  g_core = nullptr;
  return crashed ? Stop::kCrashed : g_trapped ? Stop::kTrapped : Stop::kYielded;
}

void yield_to_scheduler(Core &core) {
  asan_leave(&core.asan_state, g_scheduler_stack);
  swapcontext(&core.context, &g_scheduler);
  asan_arrived(core.asan_state, nullptr);
}

void leave_for_good() {
  g_trapped = true;
  asan_leave(nullptr, g_scheduler_stack);
  setcontext(&g_scheduler);
  __builtin_unreachable();
}

void drop_fiber(Core &core) { core.started = false; }

const Crash &last_crash() { return g_crash; }

void ensure_fault_handlers() {
  const pid_t thread = static_cast<pid_t>(syscall(SYS_gettid));
  if (g_timer_thread != thread) {  // the first launch, or the first after a fork
    g_timer_thread = thread;
    ensure_handler_stack();
    struct sigevent event = {};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = stop_signal();
#ifdef sigev_notify_thread_id
    event.sigev_notify_thread_id = thread;
#else
    event._sigev_un._tid = thread;
#endif
    timer_create(CLOCK_MONOTONIC, &event, &g_timer);
    sigset_t timer;
    sigemptyset(&timer);
    sigaddset(&timer, stop_signal());
    pthread_sigmask(SIG_UNBLOCK, &timer, nullptr);
  }
  for (const int signal : kFaults) install(signal, handle_fault);
  install(stop_signal(), handle_stop);
  g_handles_signals = true;
}

void start_time_limit(double seconds) {
  g_attention.fetch_and(~kTimeLimit);
  if (seconds > 0) set_timer(seconds);
}

void stop_time_limit() { set_timer(0); }

void request_interrupt() { g_attention.fetch_or(kInterrupt); }

void insist_on_interrupt() {
  if (g_handles_signals) syscall(SYS_tgkill, getpid(), g_timer_thread.load(), stop_signal());
}

namespace {

void ask_for(Attention what, bool on) {
  if (on) {
    g_attention.fetch_or(what);
  } else {
    g_attention.fetch_and(~what);
  }
}

}  // namespace

void ask_for_steps(bool on) { ask_for(kSteps, on); }
void ask_for_undoing(bool on) { ask_for(kUndoing, on); }

void forget_interrupt() { g_attention.fetch_and(~kInterrupt); }

}  // namespace mlusim
