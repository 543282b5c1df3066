// The checked longjmp of hardened builds reports a jump from one stack to another as an error.
#undef _FORTIFY_SOURCE

#include "machine/fiber.h"

#include <pthread.h>
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

#include "base/thread_state.h"
#include "machine/array.h"
#include "machine/asan.h"
#include "machine/heap.h"
#include "machine/launch.h"
#include "machine/missing_memory.h"
#include "machine/model.h"
#include "machine/process_end.h"
#include "machine/stack.h"
#include "mlusim_source.h"

// The storage of the builtin variables, which kernels see as constants.
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
Range g_scheduler_stack;  // known only with the address sanitizer
sigjmp_buf g_way_out;
Range g_thread_stack;  // of the device's thread
Core *g_core = nullptr;
void (*g_run)(Core &) = nullptr;
bool g_trapped = false;
Crash g_crash;
timer_t g_timer;
std::atomic<pid_t> g_timer_thread{0};
std::atomic<bool> g_handles_signals{false};

constexpr int kFaults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
constexpr int kMostSignals = 65;
struct sigaction g_previous[kMostSignals];  // the handlers that ours replaced last
struct sigaction g_oldest[kMostSignals];    // those that ours replaced first
bool g_installed[kMostSignals];

bool on_stack_of(const Core &core, const void *frame) { return core.stack.holds(frame); }

void fiber_main() {
  asan_arrived(nullptr, &g_scheduler_stack);
  Unstoppable::forget();
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
  core.exceptions = {};  // exceptions of abandoned frames are lost
  core.asan_state = nullptr;
  asan_clear(core.stack);  // poisoned by frames that were abandoned
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
  return reinterpret_cast<const void *>(pc + 1);  // behind the instruction, as a return address is
}

const void *stack_pointer(const ucontext_t &context) {
#if defined(__x86_64__)
  return reinterpret_cast<const void *>(context.uc_mcontext.gregs[REG_RSP]);
#else
  return reinterpret_cast<const void *>(context.uc_mcontext.sp);
#endif
}

// Returns where the call came from that led to the address; null if no call did.
const void *caller_of(const void *address, const ucontext_t &context) {
  if (static_cast<const char *>(address) + 1 != program_counter(context)) return nullptr;
#if defined(__x86_64__)
  const void *const stack = stack_pointer(context);
  return g_core->stack.holds(stack) ? *static_cast<const void *const *>(stack) : nullptr;
#else
  return reinterpret_cast<const void *>(context.uc_mcontext.regs[30]);
#endif
}

bool on_device_thread() { return syscall(SYS_gettid) == g_timer_thread; }

// Whether the signal came from a core. After a stack overflow the stack pointer may lie anywhere
// below the stack.
bool from_core(const ucontext_t &context) {
  return g_core != nullptr && on_device_thread() && !g_thread_stack.holds(stack_pointer(context));
}

void explain_host_fault(const void *address) {
  const Location location = locate(address);
  if (location.space == Space::kHost) return;
  char text[256];
  const int length =
      std::snprintf(text, sizeof text,
                    "mlusim: host code touched device memory (%s); copy it with cnrtMemcpy, or wait for the kernel "
                    "that should have touched it\n",
                    name_of(location.space));
  if (length > 0 && write(STDERR_FILENO, text, static_cast<std::size_t>(length)) < 0) return;
}

bool is_sent(const siginfo_t &info) { return info.si_code <= 0; }

// Whether the handler that ours hands signals on to has handed this one on to ours. A handler that
// was installed after ours does so, such as that of Python's faulthandler.
bool comes_back(const void *frame) {
  const void *const outer = thread_state().handing_on;
  return outer != nullptr && frame < outer;  // else the outer one was left by a jump
}

void hand_on(int signal, siginfo_t *info, void *context) {
  const void *&frame = thread_state().handing_on;
  const void *const before = frame;
  const struct sigaction &previous = comes_back(__builtin_frame_address(0)) ? g_oldest[signal] : g_previous[signal];
  frame = __builtin_frame_address(0);
  if ((previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
  } else {
    sigaction(signal, &previous, nullptr);  // the fault happens again, now without our handler
    if (is_sent(*info)) raise(signal);
  }
  frame = before;
}

// Describes the act of a kernel or host function that ended by one of these signals, as the end of
// a sentence.
const char *received(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "received SIGSEGV";
    case SIGBUS:
      return "received SIGBUS";
    case SIGFPE:
      return "received SIGFPE";
    case SIGILL:
      return "received SIGILL";
    case SIGTRAP:
      return "received SIGTRAP";
    default:
      return "called abort";
  }
}

// Whether the failed access was a load; true where the machine does not tell.
bool is_load([[maybe_unused]] const ucontext_t &context) {
#if defined(__x86_64__)
  constexpr greg_t kIsStore = 2;
  return (context.uc_mcontext.gregs[REG_ERR] & kIsStore) == 0;
#else
  return true;
#endif
}

// Opens the scratch of a memory core at its first touch; see scratch_of().
bool opens_scratch(const void *address, const ucontext_t &context) {
  Core &core = *g_core;
  if (!core.is_scratch(address) || core.scratch_open) return false;
  core.scratch_open = open_scratch(core.nram) && open_scratch(core.wram);
  if (is_load(context)) note_missing_read(core);
  ask_for_undoing(true);
  return core.scratch_open;
}

// Whether the fault comes from a function whose frame has no room: functions touch memory above the
// stack pointer, and a little below it.
bool is_stack_overflow(const void *address, const ucontext_t &context) {
  constexpr std::ptrdiff_t kBelow = 4096;
  const char *const sp = static_cast<const char *>(stack_pointer(context));
  const Range guard = guard_below(g_core->stack);
  const bool far_below = sp < guard.begin || sp > g_core->stack.end;
  return far_below || (guard.holds(address) && address >= sp - kBelow);
}

// Makes each later instruction raise SIGTRAP. Where that is impossible, the next function of the
// simulator ends the launch.
void step([[maybe_unused]] ucontext_t *context) {
#if defined(__x86_64__)
  constexpr greg_t kTrapFlag = 0x100;
  context->uc_mcontext.gregs[REG_EFL] |= kTrapFlag;
#endif
}

// Whether the running kernel sent the signal itself. Errors that the C library finds end the
// process, because it may hold locks then. Errors found by the checks of hardened builds hold no
// lock; their texts begin with asterisks.
bool is_own(const siginfo_t &info) {
  if (info.si_pid != getpid()) return false;
  const char *const fatal = fatal_text();
  return info.si_signo != SIGABRT || fatal == nullptr || std::strncmp(fatal, "*** ", 4) == 0;
}

// Returns the value of a register that can be no address; null if there is none.
const void *wrong_pointer([[maybe_unused]] const ucontext_t &context) {
#if defined(__x86_64__)
  constexpr int kAddressBits = 47;  // the bits above are all alike
  for (const int name : {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_R8, REG_R9, REG_R10, REG_R11,
                         REG_R12, REG_R13, REG_R14, REG_R15, REG_RBP}) {
    const greg_t value = context.uc_mcontext.gregs[name];
    const greg_t above = value >> kAddressBits;
    if (above != 0 && above != -1) return reinterpret_cast<const void *>(value);
  }
#endif
  return nullptr;
}

void handle_fault(int signal, siginfo_t *info, void *context) {
  const auto &state = *static_cast<const ucontext_t *>(context);
  const bool sent = is_sent(*info);
  const bool in_core = from_core(state);
  if (!in_core || (sent && !is_own(*info))) {
    if (!sent) explain_host_fault(info->si_addr);
    if ((!sent || info->si_pid == getpid()) && !comes_back(__builtin_frame_address(0))) {
      tell_end(in_core ? running_launch()->kernel.c_str() : nullptr, received(signal));
    }
    hand_on(signal, info, context);
    return;
  }
  const bool stepping = !sent && signal == SIGTRAP && g_core->room != nullptr;
  if (stepping && in_runtime(program_counter(state))) return;
  Cause cause = sent ? Cause::kSent : stepping ? Cause::kStackOverflow : Cause::kFault;
  if (!sent && opens_scratch(info->si_addr, state)) return;
  if (!sent && is_stack_overflow(info->si_addr, state)) {
    cause = Cause::kStackOverflow;
    if (in_runtime(program_counter(state))) {
      if (open_room(*g_core, info->si_addr)) return step(static_cast<ucontext_t *>(context));
      tell_end(running_launch()->kernel.c_str(), "ran out of its stack in a function that may hold a lock");
      return hand_on(signal, info, context);
    }
  }
  const void *address = sent ? nullptr : info->si_addr;
  const void *place = program_counter(state);
  if (cause == Cause::kFault && signal == SIGSEGV) {
    if (info->si_code == SI_KERNEL && address == nullptr) {  // the processor does not tell what can be no address
      cause = Cause::kNoAddress;
      address = wrong_pointer(state);
    } else if (const void *const caller = caller_of(address, state)) {
      cause = Cause::kCall;
      place = caller;
    }
  }
  g_crash = {signal, address, place, cause};
  asan_leave(nullptr, g_scheduler_stack);
  siglongjmp(g_way_out, 1);
}

// At the first signal, the next instruction that the simulator sees ends the launch. A second
// signal comes only if the kernel runs in registers, or in one long intrinsic; it can be abandoned
// at any point then.
void handle_stop(int, siginfo_t *info, void *context) {
  const int saved = errno;
  const auto &state = *static_cast<const ucontext_t *>(context);
  const int reason = info->si_code == SI_TIMER ? kTimeLimit : kInterrupt;
  const int known = reason == kTimeLimit ? g_attention.fetch_or(kTimeLimit) : g_attention.load();
  if ((known & reason) != 0 && !Unstoppable::any() && from_core(state)) {
    g_crash = {SIGALRM, nullptr, program_counter(state), Cause::kStopped};
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
  if (!g_installed[signal]) g_oldest[signal] = present;
  g_installed[signal] = true;
  struct sigaction action = {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

void install_fault_handlers() {
  fatal_text();  // looks up symbols, which handlers must not do
  for (const int signal : kFaults) install(signal, handle_fault);
}

// Gives handlers on this thread a stack of their own: a core may have run out of its stack.
void ensure_handler_stack() {
  static char *memory = nullptr;
  constexpr std::size_t kBytes = 64 * 1024;
  if (memory == nullptr) memory = new char[kBytes];
  stack_t stack = {};
  stack.ss_sp = memory;
  stack.ss_size = kBytes;
  sigaltstack(&stack, nullptr);
}

Range find_thread_stack() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  void *begin = nullptr;
  std::size_t bytes = 0;
  pthread_attr_getstack(&attributes, &begin, &bytes);
  pthread_attr_destroy(&attributes);
  return {static_cast<char *>(begin), static_cast<char *>(begin) + bytes};
}

int stop_signal() { return SIGRTMIN + 9; }

void set_timer(double seconds) {
  struct itimerspec when = {};
  when.it_value.tv_sec = static_cast<time_t>(seconds);
  when.it_value.tv_nsec = static_cast<long>((seconds - static_cast<double>(when.it_value.tv_sec)) * 1e9);
  // The second signal, which ends what does not come to a place where it can stop, comes soon.
  constexpr double kInsistAfter = 0.5;
  when.it_interval = when.it_value;
  if (seconds > kInsistAfter) when.it_interval = {0, static_cast<long>(kInsistAfter * 1e9)};
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
  Unstoppable::begin_switch();
  change_exceptions(core.exceptions_of, core.exceptions);
  g_core = &core;
  const bool crashed = sigsetjmp(g_way_out, 1) != 0;
  if (!crashed) {
    asan_leave(&g_scheduler_asan_state, core.stack);
    swapcontext(&g_scheduler, &core.context);
  }
  asan_arrived(g_scheduler_asan_state, nullptr);
  g_core = nullptr;
  core.exceptions = change_exceptions(core.exceptions_of, {});
  return crashed ? Stop::kCrashed : g_trapped ? Stop::kTrapped : Stop::kYielded;
}

void yield_to_scheduler(Core &core) {
  Unstoppable::begin_switch();
  asan_leave(&core.asan_state, g_scheduler_stack);
  swapcontext(&core.context, &g_scheduler);
  asan_arrived(core.asan_state, nullptr);
  Unstoppable::forget();
}

void leave_for_good() {
  g_trapped = true;
  Unstoppable::begin_switch();
  asan_leave(nullptr, g_scheduler_stack);
  setcontext(&g_scheduler);
  __builtin_unreachable();
}

void end_for_stack(const void *pc) {
  g_crash = {SIGSEGV, nullptr, pc, Cause::kStackOverflow};
  asan_leave(nullptr, g_scheduler_stack);
  siglongjmp(g_way_out, 1);
}

bool has_left_stack() {
  return g_core != nullptr && on_device_thread() && !on_stack_of(*g_core, __builtin_frame_address(0));
}

void drop_fiber(Core &core) {
  core.started = false;
  abandon(core.constructions);
  close_room(core);
}

const Crash &last_crash() { return g_crash; }

void ensure_fault_handlers() {
  const pid_t thread = static_cast<pid_t>(syscall(SYS_gettid));
  if (g_timer_thread != thread) {  // the first launch, or the first one after a fork
    g_timer_thread = thread;
    ensure_handler_stack();
    g_thread_stack = find_thread_stack();
    struct sigevent event = {};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = stop_signal();
#ifdef sigev_notify_thread_id
    event.sigev_notify_thread_id = thread;
#else
    event._sigev_un._tid = thread;
#endif
    // The time that this thread runs, not that of the clock: other work on the machine makes no
    // launch too long.
    timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &g_timer);
    sigset_t timer;
    sigemptyset(&timer);
    sigaddset(&timer, stop_signal());
    pthread_sigmask(SIG_UNBLOCK, &timer, nullptr);
  }
  find_runtimes();
  install_fault_handlers();
  install(stop_signal(), handle_stop);
  g_handles_signals = true;
}

void ensure_host_handlers() {
  static const bool installed = [] {
    install_fault_handlers();
    return true;
  }();
  static_cast<void>(installed);
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
void ask_for_stack_check(bool on) { ask_for(kStackCheck, on); }

void forget_interrupt() { g_attention.fetch_and(~kInterrupt); }

}  // namespace mlusim
