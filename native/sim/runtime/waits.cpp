// Waits for the work of queues, and gives that work up when the host no longer wants to wait.
#include <chrono>
#include <new>
#include <utility>

#include "machine/fiber.h"
#include "runtime/device_use.h"
#include "runtime/error.h"
#include "runtime/interrupt.h"
#include "runtime/scheduler_internal.h"

namespace mlusim {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kBetweenQuestions = std::chrono::milliseconds(50);
// The time for which a change of the device waits for calls of other threads that are about to end.
constexpr auto kPatienceForCalls = std::chrono::milliseconds(20);

cnrtRet_t refuse_to_wait() { return explain(cnrtErrorOpsNotPermitted, "a function that a queue runs must not wait"); }

cnrtRet_t tell_end() { return explain(cnrtErrorIllegalState, "the process is ending: queues do no more work"); }

}  // namespace

template <typename Condition>
Scheduler::Waited Scheduler::wait(const Condition &condition) {
  if (condition()) return Waited::kDone;
  if (serves_queues()) return Waited::kForbidden;
  if (spin_until(condition)) return Waited::kDone;
  Lock lock(mutex_);
  const std::uint64_t forks = forks_;
  ++waiters_;
  const Waited result = sleep_until(condition, lock);
  if (forks_ == forks) --waiters_;  // the child of a fork counts waiters anew
  return result;
}

// Waits for `condition`, and asks the host from time to time whether to go on, without the mutex.
template <typename Condition>
Scheduler::Waited Scheduler::sleep_until(const Condition &condition, Lock &lock) {
  auto question = Clock::now() + kBetweenQuestions;
  for (;;) {
    if (condition()) return Waited::kDone;
    if (ended_) return Waited::kEnded;
    const mlusimInterruptCheck_t check = interrupt_check();
    if (check == nullptr) {
      changed_.wait(lock);
      continue;
    }
    changed_.wait_until(lock, question);
    if (Clock::now() < question) continue;
    lock.unlock();
    const bool interrupted = check() != 0;
    question = Clock::now() + kBetweenQuestions;
    lock.lock();
    if (interrupted) return condition() ? Waited::kDone : Waited::kInterrupted;
  }
}

cnrtRet_t Scheduler::wait_for(const QueueRef &queue, std::uint64_t number) {
  switch (wait([&] { return queue->done_.load(std::memory_order_acquire) >= number; })) {
    case Waited::kDone:
      know_done(queue, number);
      return cnrtSuccess;
    case Waited::kInterrupted:
      return give_up({{queue, number}});
    case Waited::kEnded:
      return tell_end();
    case Waited::kForbidden:
      break;
  }
  return refuse_to_wait();
}

cnrtRet_t Scheduler::wait_for_device(int device) {
  Tickets tickets;
  QueueClock latest;
  {
    const Lock lock(mutex_);
    for (Ticket &ticket : all_tickets()) {
      if (ticket.queue->device() == device) tickets.push_back(std::move(ticket));
    }
    latest = latest_[static_cast<std::size_t>(device)];
  }
  for (const Ticket &ticket : tickets) {
    const Waited waited = wait([&] { return ticket.done(); });
    if (waited == Waited::kInterrupted) return give_up(tickets);
    if (waited == Waited::kEnded) return tell_end();
    if (waited == Waited::kForbidden) return refuse_to_wait();
  }
  const Lock lock(mutex_);
  know(latest);
  return cnrtSuccess;
}

cnrtRet_t Scheduler::wait_for_mark(const std::shared_ptr<Mark> &mark) {
  const Waited waited = wait([&] { return mark->done.load(std::memory_order_acquire); });
  if (waited == Waited::kEnded) return tell_end();
  if (waited == Waited::kForbidden) return refuse_to_wait();
  if (waited == Waited::kDone) {
    know_mark(*mark);
    return cnrtSuccess;
  }
  Tickets tickets;
  {
    const Lock lock(mutex_);
    for (const QueueRef &queue : known_) {
      if (queue->number() == mark->queue) tickets.push_back({queue, queue->queued_});
    }
  }
  return give_up(tickets);
}

// ---- Interrupts ---------------------------------------------------------------------------------

// Makes the queues give up all their current work. When this returns, the caller may free the
// memory that the work uses.
cnrtRet_t Scheduler::give_up(const Tickets &tickets) {
  Lock lock(mutex_);
  for (const Ticket &ticket : tickets) {
    if (!ticket.done()) give_up_queue(ticket.queue.get());
  }
  ++waiters_;
  while (runs_any(tickets) && !ended_) {
    request_interrupt();
    if (changed_.wait_for(lock, kBetweenQuestions) == std::cv_status::timeout && runs_any(tickets))
      insist_on_interrupt();
  }
  --waiters_;
  for (const Ticket &ticket : tickets) know(ticket.queue->number(), ticket.number);
  const cnrtRet_t error = take_first_error(tickets);
  if (error != cnrtSuccess) return error;
  for (const Ticket &ticket : tickets) {
    if (ticket.done()) continue;
    return explain(cnrtErrorQueue, "the wait was interrupted: work of a queue that had not begun was given up");
  }
  return cnrtSuccess;
}

void Scheduler::give_up_queue(Queue *queue) {
  queue->given_up_ = queue->queued_;
  Mark *mark = std::exchange(queue->waits_for_, nullptr);
  if (mark == nullptr) return;
  Queue **place = &mark->waiting;
  while (*place != queue) place = &(*place)->next_;
  *place = queue->next_;
  schedule(queue);
  wake_device();
}

// Whether the device still runs work that the ticket's queue gave up.
bool Scheduler::runs(const Ticket &ticket) const {
  const Queue *queue = ticket.queue.get();
  return device_queue_ == queue && queue->first_number() <= queue->given_up_;
}

bool Scheduler::runs_any(const Tickets &tickets) const {
  for (const Ticket &ticket : tickets) {
    if (runs(ticket)) return true;
  }
  return false;
}

// Takes the errors of the tickets' queues, and returns the oldest.
cnrtRet_t Scheduler::take_first_error(const Tickets &tickets) {
  cnrtRet_t error = cnrtSuccess;
  std::uint64_t first = UINT64_MAX;
  for (const Ticket &ticket : tickets) {
    Queue *queue = ticket.queue.get();
    if (queue->error_ == cnrtSuccess) continue;
    if (queue->failure_ < first) {
      first = queue->failure_;
      error = explain(queue->error_, "%s", queue->error_text_.c_str());
    }
    clear_error(queue);
  }
  return error;
}

void Scheduler::wake_waiters() {
  const Lock lock(mutex_);
  changed_.notify_all();
}

// ---- Calls that wait for the device -------------------------------------------------------------

// Returns tickets for all work that is in queues now.
Tickets Scheduler::all_tickets() const {
  Tickets tickets;
  for (const QueueRef &queue : known_) {
    if (queue->done_ != queue->queued_) tickets.push_back({queue, queue->queued_});
  }
  return tickets;
}

Freed Scheduler::free_after_work(void *pointer) {
  Tickets tickets;
  std::uint64_t last_user = 0;
  {
    const Lock lock(mutex_);
    tickets = all_tickets();
    last_user = orders_;
  }
  for (const Ticket &ticket : tickets) {
    const Waited waited = wait([&] { return ticket.done() || ticket.queue->stalled_; });
    if (waited == Waited::kEnded) return heap_free(pointer);  // nothing runs at that point
    if (waited != Waited::kDone) break;
  }
  if (!tickets.empty()) {
    const Lock lock(mutex_);
    Condemned entry = {pointer, {}};
    for (const Ticket &ticket : tickets) {
      if (!ticket.done()) entry.users.push_back(ticket);
    }
    if (!entry.users.empty()) {
      condemned_.reserve(condemned_.size() + 1);
      const Freed result = heap_condemn(pointer, last_user);
      if (result == Freed::kDone) condemned_.push_back(std::move(entry));
      return result;
    }
  }
  return heap_free(pointer);
}

const char *Scheduler::while_idle(const std::function<const char *()> &change) {
  const auto end = Clock::now() + kPatienceForCalls;
  for (;;) {
    {
      const Lock lock(mutex_);  // prevents forks
      if (!known_.empty()) return "a queue still has work, or an error that was not fetched";
      const DeviceChange turn;
      if (turn.alone() && !working_ && !heap_open_) return change();
    }
    if (Clock::now() >= end) return "another thread is using the device";
    sched_yield();
  }
}

// Notes that the host knows of work that is over. Without memory for that, earlier work is
// forgotten.
void Scheduler::know(const QueueClock &over) noexcept {
  try {
    join(&host_clock_, over);
  } catch (const std::bad_alloc &) {
    forget_queue_work();
  }
}

void Scheduler::know(std::uint64_t queue, std::uint64_t number) noexcept {
  try {
    join(&host_clock_, {{queue, number}});
  } catch (const std::bad_alloc &) {
    forget_queue_work();
  }
}

void Scheduler::know_done(const QueueRef &queue, std::uint64_t number) {
  const Lock lock(mutex_);
  know(queue->number(), number);
  // The clock of a later task may know more than this one; most often there is none.
  if (queue->clock_ != nullptr) know(*queue->clock_);
}

void Scheduler::know_mark(const Mark &mark) {
  const Lock lock(mutex_);
  know(mark.queue, mark.number);
  if (mark.before != nullptr) know(*mark.before);
}

std::uint64_t Scheduler::queued(const QueueRef &queue) {
  const Lock lock(mutex_);
  return queue->queued_;
}

// ---- The interface ------------------------------------------------------------------------------

cnrtRet_t wait_for_ticket(const QueueRef &queue, std::uint64_t ticket) { return scheduler().wait_for(queue, ticket); }

cnrtRet_t wait_for_queue(const QueueRef &queue) { return scheduler().wait_for(queue, scheduler().queued(queue)); }

cnrtRet_t wait_for_device(int device) { return scheduler().wait_for_device(device); }

cnrtRet_t wait_for_mark(const std::shared_ptr<Mark> &mark) { return scheduler().wait_for_mark(mark); }

Freed free_after_work(void *pointer) { return scheduler().free_after_work(pointer); }

bool is_done(const QueueRef &queue) {
  const Ticket last = {queue, scheduler().queued(queue)};
  if (!last.done()) return false;
  scheduler().know_done(queue, last.number);
  return true;
}

void know_mark(const Mark &mark) { scheduler().know_mark(mark); }

const char *while_idle(const std::function<const char *()> &change) { return scheduler().while_idle(change); }

void interrupt_check_changed() { scheduler().wake_waiters(); }

}  // namespace mlusim
