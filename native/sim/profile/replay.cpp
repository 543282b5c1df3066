#include "profile/replay.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <queue>
#include <utility>

#include "profile/cost.h"

namespace mlusim {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
// Fewer bytes than this are a rounding error of a finished copy.
constexpr double kNothing = 1e-6;

// A pending copy off chip.
struct Transfer {
  std::uint32_t site;
  double issued;
  double left;  // bytes
  std::uint64_t bytes;
  double begin;  // of its flow
};

// The condition under which a core goes on through its records.
enum class Pause : std::uint8_t {
  kNone,
  kPipe,  // the io pipe is empty
  kMeeting,
  kLock,
};

// The state of a core at its place in the records.
struct Runner {
  std::size_t next = 0;
  double now = 0;
  double free[kAgents] = {};       // when each pipe has finished its work; of kIo: the work that has flowed
  std::deque<Transfer> transfers;  // of the io pipe; the first one flows or is about to
  bool holds = false;              // its synchronous copy is pending
  bool scalars = false;            // the scalar accesses before the record are done
  Pause pause = Pause::kNone;
};

struct Meeting {
  double latest = 0;
  std::vector<int> members;  // that have arrived
};

struct Lock {
  std::vector<double> released;  // time of the n-th release
  std::vector<int> waiting;
};

struct Moment {
  double time;
  std::uint64_t number;  // at equal times the earlier one comes first
  int place;
  bool starts;  // true: a copy starts to flow; false: the core goes on
  bool operator<(const Moment &other) const { return time != other.time ? time > other.time : number > other.number; }
};

class Replay {
 public:
  explicit Replay(LaunchProfile *profile) : p_(*profile), runners_(profile->records.size()) {
    meetings_.resize(profile->meetings.size());
    per_cluster_.resize(static_cast<std::size_t>(profile->clusters));
  }

  void run() {
    for (std::size_t place = 0; place < runners_.size(); ++place) wake(static_cast<int>(place), 0);
    for (;;) {
      const double flowed = next_flowed();
      const double moment = moments_.empty() ? kNever : moments_.top().time;
      if (flowed == kNever && moment == kNever) break;
      if (flowed <= moment) {
        advance(flowed);
        finish_transfers();
        continue;
      }
      advance(moment);
      const Moment next = moments_.top();
      moments_.pop();
      if (next.starts) {
        start_flow(next.place);
      } else {
        go_on(next.place);
      }
    }
    finish();
  }

 private:
  Runner &runner(int place) { return runners_[static_cast<std::size_t>(place)]; }
  double cycles(double number) const { return cycles_to_ns(p_.model, number); }

  void push(int place, double time, bool starts) { moments_.push({time, ++moment_, place, starts}); }
  void wake(int place, double time) {
    runner(place).pause = Pause::kNone;
    push(place, time, false);
  }

  bool pause(int place, Pause reason) {
    runner(place).pause = reason;
    return false;
  }

  void add_event(int place, std::uint32_t site, double begin, double end, std::uint64_t bytes) {
    p_.tally(place, site).busy += end - begin;
    if (end > begin) p_.events.push_back({begin, end, bytes, place, static_cast<std::int32_t>(site)});
  }

  // ---- Copies off chip --------------------------------------------------------------------------

  // Returns bytes per ns, which is GB/s.
  double rate_of(int place) const {
    const std::size_t cluster = static_cast<std::size_t>(place / p_.places_per_cluster());
    const double of_device = p_.model.bandwidth_gb_s / static_cast<double>(flowing_.size());
    return std::min(of_device, p_.model.cluster_bandwidth_gb_s / per_cluster_[cluster]);
  }

  double next_flowed() const {
    double next = kNever;
    for (const int place : flowing_) {
      const double left = runners_[static_cast<std::size_t>(place)].transfers.front().left;
      next = std::min(next, clock_ + left / rate_of(place));
    }
    return next;
  }

  void advance(double time) {
    const double passed = time - clock_;
    if (passed > 0) {
      for (const int place : flowing_) runner(place).transfers.front().left -= passed * rate_of(place);
    }
    clock_ = std::max(clock_, time);
  }

  void add_transfer(int place, const Record &record) {
    Runner &core = runner(place);
    core.transfers.push_back({record.site, core.now, record.cost, record.bytes, 0});
    if (core.transfers.size() == 1) schedule_flow(place);
  }

  void schedule_flow(int place) {
    const Runner &core = runner(place);
    push(place, std::max(core.transfers.front().issued + p_.model.off_chip_latency_ns, core.free[kIo]), true);
  }

  void start_flow(int place) {
    Runner &core = runner(place);
    Transfer &transfer = core.transfers.front();
    transfer.begin = std::max(transfer.issued, core.free[kIo]);  // when the pipe is free, with the rest of the latency
    flowing_.push_back(place);
    ++per_cluster_[static_cast<std::size_t>(place / p_.places_per_cluster())];
  }

  void finish_transfers() {
    std::vector<int> done;
    for (const int place : flowing_) {
      const double left = runner(place).transfers.front().left;
      // A rest that takes less time than the clock resolves counts as done.
      if (left <= kNothing || clock_ + left / rate_of(place) <= clock_) done.push_back(place);
    }
    for (const int place : done) finish_transfer(place);
  }

  void finish_transfer(int place) {
    Runner &core = runner(place);
    flowing_.erase(std::find(flowing_.begin(), flowing_.end(), place));
    --per_cluster_[static_cast<std::size_t>(place / p_.places_per_cluster())];
    const Transfer transfer = core.transfers.front();
    core.transfers.pop_front();
    core.free[kIo] = clock_;
    add_event(place, transfer.site, transfer.begin, clock_, transfer.bytes);
    if (!core.transfers.empty()) return schedule_flow(place);
    if (core.pause == Pause::kPipe) wake(place, std::max(core.now, clock_));
  }

  // ---- A core -----------------------------------------------------------------------------------

  // Goes through the records until the core has to wait for an event that is still to come.
  void go_on(int place) {
    Runner &core = runner(place);
    const std::vector<Record> &records = p_.records[static_cast<std::size_t>(place)];
    while (core.next < records.size()) {
      const Record &record = records[core.next];
      if (!core.scalars) run_scalars(place, record);
      core.scalars = true;
      if (record.kind == Record::kMeet) return arrive(place, record);
      if (!run_record(place, record)) return;
      ++core.next;
      core.scalars = false;
    }
  }

  // Runs the scalar accesses. Those on chip wait for the core's compute instructions.
  void run_scalars(int place, const Record &record) {
    run_scalar(place, p_.model.scalar_off_chip_ns * record.far_first);
    if (record.near == 0) return;
    Runner &core = runner(place);
    core.now = std::max(core.now, core.free[kCompute]);
    run_scalar(place, cycles(p_.model.scalar_on_chip_cycles * record.near) +
                          p_.model.scalar_off_chip_ns * (record.far - record.far_first));
  }

  void run_scalar(int place, double time) {
    Runner &core = runner(place);
    p_.cores[static_cast<std::size_t>(place)].scalar += time;
    add_event(place, 0, core.now, core.now + time, 0);
    core.now += time;
  }

  // Returns false if the core has to wait; it then runs the record again.
  bool run_record(int place, const Record &record) {
    switch (record.kind) {
      case Record::kWork:
        return run_work(place, record);
      case Record::kSync:
        return run_sync(place, record);
      case Record::kLock:
        return take_lock(place, record);
      case Record::kUnlock:
        give_lock(place, record);
        return true;
      case Record::kMeet:
      case Record::kRest:
        break;
    }
    return true;
  }

  bool run_work(int place, const Record &record) {
    Runner &core = runner(place);
    const Site &site = p_.sites[record.site];
    const bool copy = site.work != Work::kCompute;
    const bool holds = copy && site.agent == kCompute;
    if (holds) core.now = std::max(core.now, core.free[kCompute]);
    if (site.work == Work::kOffChip) {
      if (!holds) {
        add_transfer(place, record);
        core.now += cycles(p_.model.issue_cycles);
        return true;
      }
      if (!core.holds) {
        if (core.transfers.empty()) {
          add_transfer(place, record);
          core.holds = true;
        }
        return pause(place, Pause::kPipe);
      }
      if (!core.transfers.empty()) return pause(place, Pause::kPipe);
      core.holds = false;
      core.now = std::max(core.now, core.free[kIo]);
      return true;
    }
    double &free = core.free[copy ? kMove : kCompute];
    const double begin = std::max(core.now, free);
    free = begin + record.cost;
    add_event(place, record.site, begin, free, record.bytes);
    core.now = holds ? free : core.now + cycles(p_.model.issue_cycles);
    return true;
  }

  bool run_sync(int place, const Record &record) {
    Runner &core = runner(place);
    if ((record.agents & kWaitIo) != 0 && !core.transfers.empty()) return pause(place, Pause::kPipe);
    double until = core.now;
    for (const Agent agent : {kCompute, kIo, kMove}) {
      if ((record.agents & (1u << agent)) != 0) until = std::max(until, core.free[agent]);
    }
    p_.cores[static_cast<std::size_t>(place)].sync_wait += until - core.now;
    add_event(place, record.site, core.now, until, 0);
    const bool instruction = p_.sites[record.site].pc != nullptr;  // null: the end of the task
    core.now = until + (instruction ? cycles(p_.model.issue_cycles) : 0);
    return true;
  }

  // The last core to arrive lets all go on.
  void arrive(int place, const Record &record) {
    Runner &core = runner(place);
    core.pause = Pause::kMeeting;
    Meeting &meeting = meetings_[record.bytes];
    meeting.latest = std::max(meeting.latest, core.now);
    meeting.members.push_back(place);
    if (meeting.members.size() < p_.meetings[record.bytes]) return;
    const double until = meeting.latest + (record.job ? 0 : cycles(p_.model.barrier_cycles));
    for (const int member : meeting.members) leave_meeting(member, until);
    meeting.members.clear();
  }

  void leave_meeting(int place, double until) {
    Runner &core = runner(place);
    const Record &record = p_.records[static_cast<std::size_t>(place)][core.next];
    if (!record.job) {
      p_.cores[static_cast<std::size_t>(place)].barrier_wait += until - core.now;
      add_event(place, record.site, core.now, until, 0);
    }
    core.now = until;
    ++core.next;
    core.scalars = false;
    wake(place, until);
  }

  bool take_lock(int place, const Record &record) {
    Lock &lock = locks_[record.agents];
    if (record.bytes > lock.released.size()) {
      lock.waiting.push_back(place);
      return pause(place, Pause::kLock);
    }
    Runner &core = runner(place);
    const double until = record.bytes == 0 ? core.now : std::max(core.now, lock.released[record.bytes - 1]);
    p_.cores[static_cast<std::size_t>(place)].sync_wait += until - core.now;
    add_event(place, record.site, core.now, until, 0);
    core.now = until + cycles(p_.model.issue_cycles);
    return true;
  }

  void give_lock(int place, const Record &record) {
    Lock &lock = locks_[record.agents];
    lock.released.push_back(runner(place).now);
    for (const int other : std::exchange(lock.waiting, {})) wake(other, std::max(clock_, runner(other).now));
  }

  void finish() {
    for (std::size_t place = 0; place < runners_.size(); ++place) {
      const Runner &core = runners_[place];
      double end = core.now;
      for (const double free : core.free) end = std::max(end, free);
      p_.cores[place].end = end;
      p_.estimate = std::max(p_.estimate, end);
    }
    std::stable_sort(p_.events.begin(), p_.events.end(),
                     [](const mlusimProfileEvent &a, const mlusimProfileEvent &b) { return a.begin_ns < b.begin_ns; });
  }

  LaunchProfile &p_;
  std::vector<Runner> runners_;
  std::vector<Meeting> meetings_;
  Lock locks_[256];
  std::priority_queue<Moment> moments_;
  std::uint64_t moment_ = 0;
  std::vector<int> flowing_;
  std::vector<double> per_cluster_;
  double clock_ = 0;
};

}  // namespace

void make_timeline(LaunchProfile *profile) { Replay(profile).run(); }

}  // namespace mlusim
