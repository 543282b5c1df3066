#include "machine/ending.h"

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include "base/explain.h"
#include "base/fork.h"
#include "machine/fiber.h"
#include "machine/launch.h"
#include "machine/lines.h"
#include "machine/memory.h"

namespace mlusim {
namespace {

// ---- Who waits where ----------------------------------------------------------------------------

std::string task_text(const Core &core) {
  if (core.is_mpu()) return "the memory core of cluster " + std::to_string(core.cluster);
  return "task " + std::to_string(core.task_id);
}

// Describes the place of a core, as the end of a sentence.
std::string doing(const Core &core) {
  if (core.finished) return "ended";
  if (core.wait == Wait::kNothing)
    return core.intrinsic_pc == nullptr ? "not begun" : "at " + place_of(core.intrinsic_pc);
  std::string text = std::string("at ") + core.wait_name;
  if (core.wait == Wait::kLock) text += " " + std::to_string(core.wait_lock);
  return text + " (" + place_of(core.wait_pc) + ")";
}

// "tasks 0 to 3, the memory core of cluster 0".
class Names {
 public:
  void add(const Core &core) {
    if (core.is_mpu()) {
      others_ += (others_.empty() ? "" : ", ") + task_text(core);
    } else if (count_ != 0 && core.task_id == last_ + 1) {
      last_ = core.task_id;
      ++count_;
    } else {
      flush();
      first_ = last_ = core.task_id;
      count_ = 1;
    }
  }
  std::string text() {
    flush();
    const std::string several = tasks_.find_first_of(",t") != std::string::npos ? "tasks " : "task ";
    if (tasks_.empty()) return others_;
    return several + tasks_ + (others_.empty() ? "" : ", " + others_);
  }

 private:
  void flush() {
    if (count_ == 0) return;
    tasks_ += (tasks_.empty() ? "" : ", ") + std::to_string(first_);
    if (count_ > 1) tasks_ += (count_ == 2 ? ", " : " to ") + std::to_string(last_);
    count_ = 0;
  }
  std::string tasks_, others_;
  int first_ = 0, last_ = 0, count_ = 0;
};

// Describes the place of each core of the job; cores at the same place share a phrase, in the order
// of the first.
std::string all_doing(const std::vector<Core *> &members) {
  std::vector<std::pair<std::string, Names>> groups;
  for (const Core *core : members) {
    const std::string place = doing(*core);
    auto group = groups.begin();
    while (group != groups.end() && group->first != place) ++group;
    if (group == groups.end()) group = groups.insert(group, {place, Names()});
    group->second.add(*core);
  }
  std::string text;
  for (auto &group : groups) text += (text.empty() ? "" : "; ") + group.second.text() + " " + group.first;
  return text;
}

// ---- Core states --------------------------------------------------------------------------------

struct States {
  ForkMutex mutex;
  std::vector<mlusimCoreState> list;
};

States &states() {
  static States *const instance = new States;
  return *instance;
}

mlusimCoreState state_of(const Core &core, const Core *running) {
  mlusimCoreState state = {};
  const bool waits = core.wait != Wait::kNothing;
  const char *name = core.finished ? "ended" : &core == running ? "running" : waits ? "waiting" : "ready";
  std::snprintf(state.state, sizeof state.state, "%s", name);
  state.task = core.task_id;
  state.cluster = core.cluster;
  state.core = core.core_id;
  state.lock = waits && core.wait == Wait::kLock ? core.wait_lock : -1;
  if (core.finished) return state;
  std::snprintf(state.instruction, sizeof state.instruction, "%s", waits ? core.wait_name : core.intrinsic);
  SourceLine place;
  const void *pc = waits ? core.wait_pc : core.intrinsic_pc;
  if (pc == nullptr || !find_line(pc, &place)) return state;
  std::snprintf(state.file, sizeof state.file, "%s", place.file.c_str());
  state.line = place.line;
  return state;
}

}  // namespace

void report_deadlock(const std::vector<Core *> &members) {
  const Core *first = nullptr;
  FindingText text = {"sync", "deadlock"};
  for (const Core *core : members) {
    if (core->finished) continue;
    if (first == nullptr) first = core;
    if (core->wait_pc != first->wait_pc) text.other_pc = core->wait_pc;
  }
  text.pc = first->wait_pc;
  text.message = "no core can go on: " + all_doing(members);
  report_end(first, text);
}

FindingText stop_text(const std::vector<Core *> &members, const void *pc) {
  FindingText text = {"machine", "interrupted"};
  text.pc = pc;
  text.message = "the host interrupted the launch";
  if ((stop_reasons() & kInterrupt) == 0) {
    text.rule = "time-limit";
    char seconds[40];
    std::snprintf(seconds, sizeof seconds, "%g", time_limit());
    text.message = std::string("the launch took longer than ") + seconds + " seconds";
  }
  if (members.size() > 1) text.message += ": " + all_doing(members);
  return text;
}

namespace {

// Says which address the kernel touched, and what is there.
void describe_wrong_address(const Crash &crash, const Core &core, FindingText *text) {
  constexpr std::uintptr_t kNullBytes = 4096;
  const auto value = reinterpret_cast<std::uintptr_t>(crash.address);
  // No process has such addresses; others differ from process to process, and are not told.
  char number[32];
  std::snprintf(number, sizeof number, "0x%" PRIxPTR, value);
  text->rule = "invalid-address";
  if (crash.cause == Cause::kNoAddress) {
    text->message = "an access by a pointer that can be no address";
    if (value != 0) text->message += ": " + std::string(number);
    return;
  }
  text->address = crash.address;
  text->size = 1;
  const bool called = crash.cause == Cause::kCall;
  text->message = called ? "a call through a pointer to no function: " : "an access to ";
  text->message += value < kNullBytes ? "the address " + std::string(number) + ", " : "an address ";
  if (value < kNullBytes) {
    text->rule = "null-dereference";
    text->message += value == 0 ? "a null pointer" : std::to_string(value) + " bytes behind a null pointer";
  } else if (core.is_scratch(crash.address)) {
    text->message += "in NRAM or WRAM, which a memory core does not have";
  } else if (gdram_range().holds(crash.address)) {
    text->message += "in device memory that is not allocated";
  } else if (onchip_range().holds(crash.address)) {
    text->message += locate(crash.address).space == Space::kHost ? "between the memories of cores" : "which is closed";
  } else {
    text->message += in_loaded_library(crash.address, nullptr)
                         ? "in a part of a library that cannot be written to"
                         : "where the process has no memory, or none of that kind";
  }
}

}  // namespace

void report_crash(const std::vector<Core *> &members, const Core &core) {
  const Crash &crash = last_crash();
  FindingText text = {"machine", "crash"};
  text.pc = has_line(crash.pc) ? crash.pc : core.intrinsic_pc;
  if (crash.cause == Cause::kStopped) {
    text = stop_text(members, text.pc);
  } else if (crash.cause == Cause::kStackOverflow) {
    text.rule = "stack-overflow";
    text.message = "the core ran out of its stack of " + std::to_string(core.stack.size()) + " bytes";
  } else if (crash.signal == SIGABRT) {
    text.rule = "exception";
    text.message = "the kernel called abort, or an exception ended it that it may not throw";
  } else if (crash.cause == Cause::kSent) {
    text.message = "the kernel sent itself the signal " + std::to_string(crash.signal);
  } else if (crash.signal == SIGFPE) {
    text.rule = "division-by-zero";
    text.message = "an integer division by zero or an overflow of one";
  } else if (crash.signal == SIGILL || crash.signal == SIGTRAP) {
    text.rule = "illegal-instruction";
    text.message = "an instruction that the host does not have, or code that cannot be reached";
  } else {
    describe_wrong_address(crash, core, &text);
  }
  report_end(&core, text);
}

void keep_core_states(const std::vector<Core *> &members, const Core *running) {
  std::vector<mlusimCoreState> list;
  try {
    for (const Core *core : members) list.push_back(state_of(*core, running));
  } catch (const std::bad_alloc &) {
    list.clear();  // memory has run out; the error of the launch reports that
  }
  const std::lock_guard<ForkMutex> lock(states().mutex);
  states().list = std::move(list);
}

void make_core_states() { states(); }

}  // namespace mlusim

using namespace mlusim;

int mlusimGetCoreState(int index, mlusimCoreState *state) {
  if (state == nullptr) {
    refuse_null(__func__, "state");
    return -1;
  }
  const std::lock_guard<ForkMutex> lock(states().mutex);
  if (index < 0 || static_cast<std::size_t>(index) >= states().list.size()) {
    explain(cnrtErrorArgsInvalid, "%s: index: no core has this number", __func__);
    return -1;
  }
  *state = states().list[static_cast<std::size_t>(index)];
  return 0;
}
