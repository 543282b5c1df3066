#include "check/queues.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "base/fork.h"
#include "check/text.h"
#include "machine/heap.h"
#include "machine/place.h"

namespace mlusim {
namespace {

// The accesses of one piece of work that are kept; of work with more, nothing is known.
constexpr std::size_t kMostSpans = 4096;
// So many are gathered before they are put together.
constexpr std::size_t kMostGathered = 4 * kMostSpans;
// The latest work of all queues that is kept.
constexpr std::size_t kMostKept = 256;
// So many accesses are kept in all: older work goes first.
constexpr std::size_t kMostSpansKept = 32 * kMostSpans;
constexpr int kKinds = 3;

// Bytes that one instruction touched.
struct Span {
  const char *begin;
  const char *end;
  const char *name;
  const void *pc;
  std::uint64_t allocation;  // its number; a later one may have the same address
};

using Spans = std::vector<Span>;

// The accesses of a piece of work, by kind.
struct Accesses {
  Spans of[kKinds];
  bool complete = true;

  std::size_t size() const { return of[0].size() + of[1].size() + of[2].size(); }
};

struct Past {
  QueuedWork work;
  std::string name;
  Accesses accesses;
};

struct State {
  ForkMutex mutex;  // the host may forget while the device works
  QueuedWork work;
  bool watching = false;
  Accesses accesses;
  std::vector<Past> past;
};

// In static memory, since functions that must not fail use it, and never destroyed: the device's
// thread outlives static objects.
State &state() {
  alignas(State) static unsigned char memory[sizeof(State)];
  static State *const instance = new (memory) State;
  return *instance;
}

// Makes the spans disjoint and ascending.
void put_together(Spans *spans) {
  std::sort(spans->begin(), spans->end(), [](const Span &a, const Span &b) { return a.begin < b.begin; });
  Spans joined;
  for (Span span : *spans) {
    if (!joined.empty()) {
      Span &last = joined.back();
      if (span.begin <= last.end && span.pc == last.pc) {
        last.end = std::max(last.end, span.end);
        continue;
      }
      span.begin = std::max(span.begin, last.end);
      if (span.begin >= span.end) continue;
    }
    joined.push_back(span);
  }
  *spans = std::move(joined);
}

void put_together(Accesses *accesses) {
  for (Spans &spans : accesses->of) {
    put_together(&spans);
    if (spans.size() > kMostSpans) accesses->complete = false;
  }
  if (!accesses->complete) *accesses = {{}, false};
}

void add(Accesses *accesses, Kind kind, const Span &span) {
  Spans &spans = accesses->of[static_cast<int>(kind)];
  if (!spans.empty()) {
    Span &last = spans.back();
    if (last.pc == span.pc && span.begin >= last.begin && span.begin <= last.end) {
      last.end = std::max(last.end, span.end);
      return;
    }
  }
  spans.push_back(span);
  if (spans.size() < kMostGathered) return;
  put_together(&spans);
  if (spans.size() > kMostGathered / 2) accesses->complete = false;
}

void note_allocations(Accesses *accesses) {
  for (Spans &spans : accesses->of) {
    for (Span &span : spans) {
      Allocation allocation;
      span.allocation = heap_find(span.begin, &allocation) ? allocation.number : 0;
    }
  }
}

// Finds a common byte of two lists of spans.
bool meet(const Spans &a, const Spans &b, const Span **first, const Span **second) {
  auto left = a.begin();
  auto right = b.begin();
  while (left != a.end() && right != b.end()) {
    const bool common = left->begin < right->end && right->begin < left->end;
    if (common && left->allocation == right->allocation) {
      *first = &*left;
      *second = &*right;
      return true;
    }
    (left->end < right->end ? left : right)++;
  }
  return false;
}

bool conflict(const Accesses &mine, const Accesses &other, const Span **first, const Span **second, Kind kinds[2]) {
  constexpr Kind kAll[] = {Kind::kWrite, Kind::kAtomic, Kind::kRead};
  for (const Kind a : kAll) {
    for (const Kind b : kAll) {
      if (a == b && a != Kind::kWrite) continue;
      if (!meet(mine.of[static_cast<int>(a)], other.of[static_cast<int>(b)], first, second)) continue;
      kinds[0] = a;
      kinds[1] = b;
      return true;
    }
  }
  return false;
}

bool is_before(const Past &past, const QueuedWork &work) {
  if (past.work.queue == work.queue) return true;
  const auto known = work.before->find(past.work.queue);
  return known != work.before->end() && known->second >= past.work.number;
}

std::string text_of(const Span &mine, const Past &past, const Span &other, const Kind (&kinds)[2]) {
  const std::string place = place_name(std::max(mine.begin, other.begin));
  return std::string(mine.name) + " " + verb_of(kinds[0]) + " " + place + ", which " + past.name +
         " of another queue " + verb_of(kinds[1]) + " too: no wait of the host and no notifier orders the two";
}

void keep(State *all, const std::string &name) {
  all->past.push_back({all->work, name, std::move(all->accesses)});
  std::size_t spans = 0;
  for (const Past &past : all->past) spans += past.accesses.size();
  auto old = all->past.begin();
  for (; all->past.end() - old > static_cast<std::ptrdiff_t>(kMostKept) || spans > kMostSpansKept; ++old) {
    spans -= old->accesses.size();
  }
  all->past.erase(all->past.begin(), old);
}

}  // namespace

void join(QueueClock *into, const QueueClock &from) {
  for (const auto &[queue, number] : from) {
    std::uint64_t &known = (*into)[queue];
    known = std::max(known, number);
  }
}

void begin_queue_work(const QueuedWork &work) {
  State &all = state();
  const std::lock_guard<ForkMutex> lock(all.mutex);
  all.work = work;
  all.watching = work.before != nullptr;
  all.accesses = {};
}

void note_queue_access(Kind kind, const Region &region, const char *name, const void *pc) {
  State &all = state();
  if (!all.watching || !all.accesses.complete) return;
  try {
    for_each_piece(region, [&](const char *begin, std::size_t bytes) {
      if (all.accesses.complete) add(&all.accesses, kind, {begin, begin + bytes, name, pc, 0});
    });
  } catch (const std::bad_alloc &) {
    all.accesses.complete = false;
  }
}

namespace {

bool end_work(State &all, const std::string &name, FindingText *text) {
  put_together(&all.accesses);
  note_allocations(&all.accesses);
  bool found = false;
  for (const Past &past : all.past) {
    const Span *mine = nullptr;
    const Span *other = nullptr;
    Kind kinds[2] = {};
    if (is_before(past, all.work) || !conflict(all.accesses, past.accesses, &mine, &other, kinds)) continue;
    *text = {"race", "between-queues"};
    text->pc = mine->pc;
    text->other_pc = other->pc;
    text->address = std::max(mine->begin, other->begin);
    text->size = static_cast<std::uint64_t>(std::min(mine->end, other->end) - std::max(mine->begin, other->begin));
    text->message = text_of(*mine, past, *other, kinds);
    found = true;
    break;
  }
  keep(&all, name);
  return found;
}

}  // namespace

bool end_queue_work(const std::string &name, FindingText *text) {
  State &all = state();
  const std::lock_guard<ForkMutex> lock(all.mutex);
  if (!all.watching) return false;
  all.watching = false;
  try {
    return end_work(all, name, text);
  } catch (const std::bad_alloc &) {
    all.past.clear();  // the order of what follows is not known without this work
    return false;
  }
}

void forget_queue_work() {
  State &all = state();
  const std::lock_guard<ForkMutex> lock(all.mutex);
  all.past.clear();
}

void forget_queue_work(std::uint64_t queue) {
  State &all = state();
  const std::lock_guard<ForkMutex> lock(all.mutex);
  const auto of_queue = [queue](const Past &past) { return past.work.queue == queue; };
  all.past.erase(std::remove_if(all.past.begin(), all.past.end(), of_queue), all.past.end());
}

}  // namespace mlusim
