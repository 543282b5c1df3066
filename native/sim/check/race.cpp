#include "check/race.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "check/pc_table.h"
#include "check/pipes.h"
#include "check/queues.h"
#include "check/stamps.h"
#include "check/text.h"
#include "machine/model.h"
#include "machine/place.h"
#include "machine/trap.h"

namespace mlusim {
namespace {

constexpr std::size_t kMostRuns = kMaxClusters * (kMaxCoresPerCluster + 1);  // of a job

// A run of the current job.
struct Run {
  std::uint64_t epoch = 0;       // the epoch of its current accesses
  std::uint64_t async_over = 0;  // its asynchronous copies up to this epoch are complete
  bool copied = false;           // whether it issued an asynchronous copy since then
  ClockEntry clock[kMostRuns];   // vector clock: the epochs of each run that happen before this run's current access
  Pipes pipes;
};

struct Lock {
  int number;
  ClockEntry clock[kMostRuns];
};

void join(ClockEntry *into, const ClockEntry *from) {
  for (std::size_t i = 0; i < kMostRuns; ++i) {
    into[i].direct = std::max(into[i].direct, from[i].direct);
    into[i].async = std::max(into[i].async, from[i].async);
  }
}

std::string name_of_run(std::int64_t code) {
  return code >= 0 ? "task " + std::to_string(code) : "the memory core of cluster " + std::to_string(-1 - code);
}

// Whether one of two runs is the one of a memory core, and the other that of core 0 of its cluster,
// which has the same task. `other` is the code of a run.
bool is_memory_core_for(const Core &core, std::int64_t other) {
  return core.is_mpu() ? other == core.task_id : core.core_id == 0 && other == -1 - core.cluster;
}

// "__memcpy reads the argument x at element 8".
std::string at(const AccessEvent &event, const void *address) {
  return std::string(event.name) + " " + verb_of(event.kind) + " " + place_name(address);
}

// Returns the lowest address that both hold; the start of `a` where the search would take too long.
const char *first_common(const Region &a, const Region &b) {
  constexpr std::int64_t kMostPairs = 1000000;
  if (a.pieces() > kMostPairs / b.pieces()) return a.base;
  const char *first = nullptr;
  for_each_piece(a, [&](const char *begin_a, std::size_t bytes_a) {
    for_each_piece(b, [&](const char *begin_b, std::size_t bytes_b) {
      if (begin_a >= begin_b + bytes_b || begin_b >= begin_a + bytes_a) return;
      const char *common = std::max(begin_a, begin_b);
      if (first == nullptr || common < first) first = common;
    });
  });
  return first;
}

// A store that races. Its event comes before the store happens, and only afterwards can the checker
// see whether the store changed anything: several cores may well store the same value, such as a
// flag or a count, to the same place.
class ConflictingStore {
 public:
  // Keeps the finding until the store has happened; false if the store is too large for that.
  bool wait(const AccessEvent &event, const FindingText &text) {
    constexpr std::uint64_t kMostBytes = 1 << 20;
    if (event.region.bytes > kMostBytes / static_cast<std::uint64_t>(event.region.pieces())) return false;
    core_ = &event.core;
    text_ = text;
    region_ = event.region;
    before_.clear();
    for_each_piece(
        region_, [this](const char *begin, std::size_t bytes) { before_.insert(before_.end(), begin, begin + bytes); });
    read_since_ = event.agent != kScalar;  // an instruction announces its loads first
    return true;
  }

  // Another access follows. A copy of a structure announces its store, then its load, and then
  // performs both.
  void next(Kind kind) {
    if (core_ == nullptr) return;
    if (kind == Kind::kRead && !read_since_) {
      read_since_ = true;
    } else {
      happened();
    }
  }

  // Reports the finding once the store has happened.
  void happened() {
    if (core_ == nullptr) return;
    const char *before = before_.data();
    bool same = true;
    for_each_piece(region_, [&](const char *begin, std::size_t bytes) {
      same = same && std::memcmp(begin, before, bytes) == 0;
      before += bytes;
    });
    if (same) {
      text_.rule = "equal-stores";
      text_.message += "; this store changes nothing";
    }
    report(core_, text_);
    core_ = nullptr;
  }

 private:
  const Core *core_ = nullptr;  // null: no store is kept
  FindingText text_ = {"race", ""};
  Region region_ = {};
  std::vector<char> before_;
  bool read_since_ = false;
};

class RaceChecker : public Observer {
 public:
  void launch_begin(const LaunchInfo &) override {
    const int last = device().clusters - 1;
    const Range sram = {sram_of(0).begin, sram_of(last).end};
    watching_ = heap_.begin_launch(gdram_range()) && sram_.begin_launch(sram);
    if (!watching_ && !complained_) {
      std::fprintf(stderr, "mlusim: no address space for the shadow of the race checker; it finds nothing\n");
      complained_ = true;
    }
    implied_waits_ = is_on("race", "implied-wait");
    owners_.clear();
    names_.clear();
    first_epoch_ = next_epoch_;
    job_over_ = true;
  }

  void launch_end(const LaunchInfo &info) override {
    store_.happened();
    FindingText text = {"race", ""};
    if (end_queue_work(info.kernel, &text)) report(nullptr, text);
    heap_.end_launch();
    sram_.end_launch();
  }

  void run_begin(const Core &core) override {
    store_.happened();
    if (job_over_) begin_job(core);
    Run &run = run_of(core);
    std::fill(std::begin(run.clock), std::end(run.clock), ClockEntry{});
    run.pipes.done(kWaitAll);
    run.copied = false;
    names_.push_back(core.is_mpu() ? -1 - core.cluster : core.task_id);
    renew(core, &run);
    run.async_over = run.epoch - 1;
  }

  void run_end(const Core &) override {
    store_.happened();
    job_over_ = true;
  }

  void access(const AccessEvent &event) override {
    store_.next(event.kind);
    if (event.space == Space::kGdram) note_queue_access(event.kind, event.region, event.name, event.pc);
    if (!watching_ || event.region.empty()) return;
    const bool shared = event.space == Space::kGdram || event.space == Space::kSram;
    if (!shared && event.space != Space::kNram && event.space != Space::kWram) return;
    Run &run = run_of(event.core);
    if (const Busy *busy = run.pipes.conflict(event)) {
      report_busy(event, *busy);
    } else if (implied_waits_) {
      if (const Busy *waited = run.pipes.conflict_but_for_copy(event)) report_implied_wait(event, *waited);
    }
    run.pipes.add(event);
    if (shared) compare(event, &run);
  }

  void sync(const Core &core, unsigned agents, const void *) override {
    store_.happened();
    Run &run = run_of(core);
    if (core.implied_wait && implied_waits_) {
      run.pipes.done_by_copy(agents);
    } else {
      run.pipes.done(agents);
    }
    if (!run.copied || !run.pipes.idle()) return;
    run.async_over = run.epoch;
    run.copied = false;
    renew(core, &run);
  }

  void barrier(Wait, Core *const *cores, int count) override {
    store_.happened();
    ClockEntry joined[kMostRuns] = {};
    for (int i = 0; i < count; ++i) {
      publish(*cores[i], joined);
      join(joined, run_of(*cores[i]).clock);
    }
    for (int i = 0; i < count; ++i) {
      Run &run = run_of(*cores[i]);
      std::copy(std::begin(joined), std::end(joined), std::begin(run.clock));
      renew(*cores[i], &run);
    }
  }

  void lock_released(const Core &core, int number) override {
    store_.happened();
    Run &run = run_of(core);
    Lock &lock = lock_of(number);
    publish(core, lock.clock);
    join(lock.clock, run.clock);
    renew(core, &run);
  }

  void lock_taken(const Core &core, int number) override {
    store_.happened();
    join(run_of(core).clock, lock_of(number).clock);
  }

 private:
  // ---- Epochs -----------------------------------------------------------------------------------

  Run &run_of(const Core &core) { return runs_[core.serial - job_begin_]; }

  void begin_job(const Core &core) {
    if (runs_.empty()) runs_.resize(kMostRuns);
    job_begin_ = core.serial;
    job_epoch_ = next_epoch_;
    locks_.clear();
    job_over_ = false;
  }

  // Starts an epoch of the run: other runs may be ordered after its earlier epochs, but not after
  // this one.
  void renew(const Core &core, Run *run) {
    run->epoch = next_epoch_++;
    owners_.push_back(core.serial);
  }

  // Enters the completed epochs of this run into a clock.
  void publish(const Core &core, ClockEntry *clock) {
    const Run &run = run_of(core);
    ClockEntry &own = clock[core.serial - job_begin_];
    own.direct = std::max(own.direct, run.epoch);
    own.async = std::max(own.async, run.async_over);
  }

  Lock &lock_of(int number) {
    for (Lock &lock : locks_) {
      if (lock.number == number) return lock;
    }
    locks_.push_back({number, {}});
    return locks_.back();
  }

  // ---- Stamps -----------------------------------------------------------------------------------

  void compare(const AccessEvent &event, Run *run) {
    const bool async = event.agent == kIo || event.agent == kMove;
    run->copied = run->copied || async;
    const bool sram = event.space == Space::kSram;
    HappensBefore order;
    // Accesses of earlier jobs to SRAM are ignored: another cluster made them, or they ended before
    // this job began.
    order.floor = (sram ? job_epoch_ : first_epoch_) << kStampEpochShift;
    order.run = event.core.serial;
    order.owners = owners_.data();
    order.first_epoch = first_epoch_;
    order.clock = run->clock;
    order.job_begin = job_begin_;
    const Stamp stamp = make_stamp(run->epoch, pc_table_.number_of(event.pc), event.kind, async);
    Conflict conflict;
    StampShadow &shadow = sram ? sram_ : heap_;
    for_each_piece(event.region,
                   [&](const char *begin, std::size_t bytes) { shadow.touch(begin, bytes, stamp, order, &conflict); });
    if (conflict.address != nullptr) report_conflict(event, conflict);
  }

  // ---- Findings ---------------------------------------------------------------------------------

  static void report_busy(const AccessEvent &event, const Busy &busy) {
    const bool compute = busy.agent == kCompute;
    const bool on_chip = busy.agent == kMove ? event.agent != kIo : compute && event.agent == kMove;
    FindingText text = {"race", on_chip ? "on-chip-order" : compute ? "unsynced-compute" : "copy-in-flight"};
    text.pc = event.pc;
    text.other_pc = busy.pc;
    if (count_again(text.checker, text.rule, text.pc, text.other_pc)) return;
    text.address = first_common(event.region, busy.region);
    text.size = event.region.bytes;
    text.message = at(event, text.address) + ", which " + busy.name + (compute ? " may still " : " still ") +
                   (busy.kind == Kind::kRead ? "read" : "write") + (compute ? "" : "s") +
                   ": no sync of this core waits for it";
    report(&event.core, text);
  }

  static void report_implied_wait(const AccessEvent &event, const Busy &busy) {
    FindingText text = {"race", "implied-wait"};
    text.pc = event.pc;
    text.other_pc = busy.pc;
    if (count_again(text.checker, text.rule, text.pc, text.other_pc)) return;
    text.address = first_common(event.region, busy.region);
    text.size = event.region.bytes;
    text.message = at(event, text.address) + ", for which " + busy.name +
                   " has no sync of its own: a synchronous copy behind it in its pipe made the core wait";
    report(&event.core, text);
  }

  void report_conflict(const AccessEvent &event, const Conflict &conflict) {
    const std::uint32_t owner = owners_[epoch_of(conflict.other) - first_epoch_];
    const bool job = owner < job_begin_;
    FindingText text = {"race", job ? "between-jobs" : "between-cores"};
    text.pc = event.pc;
    text.other_pc = pc_table_.pc_of(pc_number_of(conflict.other));
    const bool twice = !job && event.pc == text.other_pc && is_memory_core_for(event.core, names_[owner]);
    // Until the store has happened.
    const bool waits = event.kind == Kind::kWrite && (event.agent == kScalar || (twice && event.agent == kCompute));
    if (!waits && count_again(text.checker, text.rule, text.pc, text.other_pc)) return;
    text.address = conflict.address;
    text.size = event.region.bytes;
    text.message =
        at(event, conflict.address) + ", which " + name_of_run(names_[owner]) + " " + verb_of(kind_of(conflict.other)) +
        " too: " +
        (job ? "the two belong to different jobs, which nothing orders" : "no barrier and no lock orders the two");
    if (twice) text.message += " (a memory core runs the code of core 0 too, unless __is_mpu() keeps it out)";
    if (waits && store_.wait(event, text)) return;
    report(&event.core, text);
  }

  ConflictingStore store_;
  bool implied_waits_ = false;  // whether the rule about them is on
  bool watching_ = false;
  bool complained_ = false;
  StampShadow heap_, sram_;
  PcTable pc_table_;
  std::vector<Run> runs_;              // of the current job
  std::vector<Lock> locks_;            // of the current job
  std::vector<std::uint32_t> owners_;  // the run of each epoch of this launch
  std::vector<std::int64_t> names_;    // by run of this launch: the task, or -1 - cluster for a memory core
  std::uint64_t next_epoch_ = 1;
  std::uint64_t first_epoch_ = 1;  // of this launch
  std::uint64_t job_epoch_ = 1;
  std::uint32_t job_begin_ = 0;  // the first run of the current job
  bool job_over_ = true;
};

}  // namespace

Observer &race_checker() {
  static RaceChecker *const checker = new RaceChecker;  // never destroyed: the device's thread outlives static objects
  return *checker;
}

}  // namespace mlusim
