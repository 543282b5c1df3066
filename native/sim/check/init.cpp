#include "check/init.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "check/text.h"
#include "machine/array.h"
#include "machine/launch.h"
#include "machine/trap.h"

namespace mlusim {
namespace {

// ---- The shadow ---------------------------------------------------------------------------------

bool all_defined(const unsigned char *shadow, std::size_t bytes) {
  constexpr std::uint64_t kDefined = ~std::uint64_t{0};
  std::uint64_t all = kDefined;
  while (bytes >= 64 && all == kDefined) {
    std::uint64_t words[8];
    std::memcpy(words, shadow, sizeof words);
    for (const std::uint64_t word : words) all &= word;
    shadow += sizeof words;
    bytes -= sizeof words;
  }
  if (all != kDefined) return false;
  for (; bytes != 0; --bytes) all &= *shadow++ | ~std::uint64_t{0xff};
  return all == kDefined;
}

// Returns the size of the number at `shadow` if only the bits of it are defined that 0 and 1 have
// in common; else 0. `bytes` are left there.
std::size_t truth_at(const unsigned char *shadow, std::size_t bytes) {
  std::uint32_t word = 0;
  if (bytes >= sizeof word) std::memcpy(&word, shadow, sizeof word);
  if (word == kFloatTruthShadow) return sizeof word;
  std::uint16_t half = 0;
  if (bytes >= sizeof half) std::memcpy(&half, shadow, sizeof half);
  return half == kHalfTruthShadow || half == kBFloat16TruthShadow ? sizeof half : 0;
}

// The first run of undefined bytes of a region.
struct Undefined {
  const char *begin = nullptr;
  std::size_t bytes = 0;     // length of the run: without a gap, within one piece
  std::uint64_t in_all = 0;  // undefined bytes in the whole region
};

void count_undefined(const char *begin, std::size_t bytes, Undefined *found) {
  const unsigned char *shadow = init_shadow(begin);
  if (all_defined(shadow, bytes)) return;
  std::size_t truth_end = 0;  // the end of a number that is undefined as a whole
  for (std::size_t i = 0; i < bytes; ++i) {
    if (i >= truth_end) truth_end = i + truth_at(shadow + i, bytes - i);
    if (shadow[i] == 0xff && i >= truth_end) continue;
    if (found->in_all++ == 0) found->begin = begin + i;
    if (begin + i == found->begin + found->bytes) ++found->bytes;
  }
}

Undefined find_undefined(const Region &region) {
  Undefined found;
  for_each_piece(region, [&](const char *begin, std::size_t bytes) { count_undefined(begin, bytes, &found); });
  return found;
}

void define(const Region &region) { fill_pieces(region.moved(init_delta()), 0xff); }

bool has_shadow(Space space) { return space != Space::kHost && space != Space::kCode && space != Space::kParam; }

// Whether other cores see the bytes that are written to this space.
bool is_shared(Space space) { return space == Space::kGdram || space == Space::kSram; }

// Returns the rule for undefined bytes that a copy moves to `target`. SRAM is a stage on the way
// between memories, like NRAM, and records with gaps are usual there, so a separate rule reports
// it, which is off by default.
const char *copy_rule(Space target) { return target == Space::kSram ? "shared-copy" : "copy"; }

// ---- Findings -----------------------------------------------------------------------------------

struct Use {
  const Core &core;
  const char *rule;
  const char *name;
  const void *pc;
};

void report_use(const Use &use, const char *begin, std::size_t bytes, const std::string &message) {
  FindingText text = {"init", use.rule};
  text.pc = use.pc;
  text.address = begin;
  text.size = bytes;
  text.message = std::string(use.name) + " " + message;
  report(&use.core, text);
}

std::string extent_of(const Undefined &found) {
  std::string text = "undefined bytes: " + bytes_at(found.begin, found.bytes);
  if (found.in_all > found.bytes) text += ", and " + std::to_string(found.in_all - found.bytes) + " more";
  return text;
}

// Whether the bytes hold nothing that is defined. If a part is defined, a load takes a record with
// padding, or a mask with spare bits: that moves the rest, and is no use of it.
bool is_all_undefined(const Region &region) {
  const unsigned char *shadow = init_shadow(region.base);
  const std::size_t bytes = region.bytes;
  return truth_at(shadow, bytes) == bytes ||
         std::all_of(shadow, shadow + bytes, [](unsigned char bits) { return bits == 0; });
}

// On-chip bytes that were reported as undefined. They count as defined until the next run begins.
std::vector<Region> g_excused;

// Reports bytes of a source that were found to be undefined; `verb` and `object` describe the use.
// The bytes then count as defined, so that one mistake gives one finding.
void report_source(const Use &use, const Region &source, const Undefined &found, const char *verb,
                   const char *object = "") {
  if (!count_again("init", use.rule, use.pc)) {
    report_use(use, found.begin, found.bytes, std::string(verb) + object + " " + extent_of(found));
  }
  define(source);
  if (locate(source.base).space != Space::kGdram) g_excused.push_back(source);
}

void examine_source(const Use &use, const Region &source, const char *verb, const char *object = "") {
  const Undefined found = find_undefined(source);
  if (found.in_all != 0) report_source(use, source, found, verb, object);
}

// ---- Copies by scalar code ----------------------------------------------------------------------

// Finds copies of records, with a load and a store next to each other in either order, so that
// undefined bytes of the source are undefined in the target too. Events come before the accesses.
class RecordCopy {
 public:
  void store(const Region &target) {
    happened();
    if (load_ != nullptr && bytes_ == target.bytes) pair_ = {load_, target.base};
    load_ = nullptr;
    store_ = target.base;
    bytes_ = target.bytes;
  }

  // A load of bytes of which a part is undefined.
  void partial_load(const Region &source) {
    happened();
    if (store_ != nullptr && bytes_ == source.bytes) pair_ = {source.base, store_};
    store_ = nullptr;
    load_ = source.base;
    bytes_ = source.bytes;
  }

  // Any other access follows.
  void other() {
    happened();
    store_ = load_ = nullptr;
  }

  void forget() { *this = {}; }

 private:
  struct Pair {
    const char *source = nullptr;  // null: there is none
    const char *target = nullptr;
  };

  // The accesses before this event are done: two that moved the same bytes are a copy.
  void happened() {
    if (pair_.source == nullptr) return;
    if (std::memcmp(pair_.source, pair_.target, bytes_) == 0) {
      std::memmove(init_shadow(pair_.target), init_shadow(pair_.source), bytes_);
    }
    pair_ = {};
  }

  const char *store_ = nullptr;  // the latest access, if it is one of these
  const char *load_ = nullptr;
  std::size_t bytes_ = 0;
  Pair pair_;
};

// ---- The observer -------------------------------------------------------------------------------

// An asynchronous copy to shared memory; its source is read only when the copy completes.
struct Outgoing {
  Region target;
  Region source;
  Space target_space;
  const char *name;
  const void *pc;
};

// The checker's state of a core and its run.
struct CoreState {
  Range nram, wram;          // the hull of this run's writes
  std::uint64_t unseen = 0;  // number of unwatched gaps before its memories were last cleared
  std::vector<Outgoing> outgoing[kAgents];
  // The sources of the running instruction, from its access events.
  std::vector<Region> sources;
  const void *sources_pc = nullptr;
  bool sources_complete = true;
};

void extend(Range *hull, const Range &by) {
  if (hull->begin == hull->end) {
    *hull = by;
    return;
  }
  hull->begin = std::min(hull->begin, by.begin);
  hull->end = std::max(hull->end, by.end);
}

// Makes the writes of the last run undefined for the next one. The bytes read as zeros:
// need_initialised() and comparisons rely on undefined memory being finite.
void forget(Range *hull) {
  if (hull->size() == 0) return;
  std::memset(init_shadow(hull->begin), 0, hull->size());
  std::memset(hull->begin, 0, hull->size());
  *hull = {};
}

class InitChecker : public Observer {
 public:
  void launch_begin(const LaunchInfo &launch) override {
    // Launches ran unwatched since the last watched one; their writes are unknown.
    const bool unseen = launch_count() != last_launch_ + 1;
    last_launch_ = launch_count();
    if (unseen) ++unseen_;
    // They begin with zeros or other bytes, and may have been written unseen.
    for_each_variable(launch.device,
                      [](const Range &variable) { std::memset(init_shadow(variable.begin), 0xff, variable.size()); });
    // Another device has its memories at other addresses.
    record_.forget();
    if (onchip_.begin == onchip_range().begin && delta_ == init_delta()) return;
    onchip_ = onchip_range();
    delta_ = init_delta();
    cores_.clear();
    srams_.clear();
    g_excused.clear();
  }

  void run_begin(const Core &core) override {
    record_.other();
    for (const Region &region : g_excused) fill_pieces(region.moved(init_delta()), 0);
    g_excused.clear();
    CoreState &state = state_of(core);
    if (state.unseen != unseen_) clear_memories(core, &state);
    forget(&state.nram);
    forget(&state.wram);
    forget(&sram_of_cluster(core.cluster));
    state.sources.clear();
    for (std::vector<Outgoing> &copies : state.outgoing) copies.clear();
  }

  void access(const AccessEvent &event) override {
    if (event.region.empty() || !has_shadow(event.space)) return;
    if (event.kind != Kind::kRead) note_write(event);
    if (event.agent == kScalar) return scalar_access(event);
    record_.other();
    CoreState &state = state_of(event.core);
    if (event.kind == Kind::kRead) return read(event, &state);
    if (is_shared(event.space)) leave(event, &state);
    state.sources_complete = true;
  }

  void sync(const Core &core, unsigned agents, const void *) override {
    CoreState &state = state_of(core);
    for (const Agent agent : {kIo, kMove}) {
      if ((agents & (1u << agent)) == 0) continue;
      for (const Outgoing &copy : state.outgoing[agent]) arrived(core, copy);
      state.outgoing[agent].clear();
    }
  }

 private:
  // Clears all memories of the core, when its run begins and no other run of the job has written to
  // SRAM yet.
  void clear_memories(const Core &core, CoreState *state) {
    state->unseen = unseen_;
    if (core.is_mpu()) return clear_piece(core.sram);
    clear_piece(core.nram);
    clear_piece(core.wram);
  }

  CoreState &state_of(const Core &core) {
    const std::size_t place = static_cast<std::size_t>(core.place);
    if (place >= cores_.size()) cores_.resize(place + 1);
    return cores_[place];
  }

  Range &sram_of_cluster(int cluster) {
    const std::size_t number = static_cast<std::size_t>(cluster);
    if (number >= srams_.size()) srams_.resize(number + 1);
    return srams_[number];
  }

  void note_write(const AccessEvent &event) {
    if (event.space == Space::kNram) extend(&state_of(event.core).nram, event.region.hull());
    if (event.space == Space::kWram) extend(&state_of(event.core).wram, event.region.hull());
    if (event.space == Space::kSram) {
      extend(&sram_of_cluster(locate(event.region.base).owner), event.region.hull());
    }
  }

  // Ignores the stack: the compiler writes to it without a hook.
  void scalar_access(const AccessEvent &event) {
    if (event.kind == Kind::kWrite) {
      record_.store(event.region);
      return define(event.region);
    }
    const Undefined found = event.space == Space::kLdram ? Undefined{} : find_undefined(event.region);
    if (event.kind == Kind::kRead && found.in_all != 0 && !is_all_undefined(event.region)) {
      const Use use = {event.core, "partial-load", event.name, event.pc};
      if (is_on("init", use.rule)) return report_source(use, event.region, found, verb_of(event.kind));
      return record_.partial_load(event.region);
    }
    record_.other();
    const Use use = {event.core, event.kind == Kind::kRead ? "scalar-load" : "atomic", event.name, event.pc};
    if (found.in_all != 0) report_source(use, event.region, found, verb_of(event.kind));
    if (event.kind == Kind::kAtomic) define(event.region);
  }

  static void read(const AccessEvent &event, CoreState *state) {
    if (event.space == Space::kLdram) define(event.region);
    if (state->sources_complete || state->sources_pc != event.pc) {
      state->sources.clear();
      state->sources_pc = event.pc;
      state->sources_complete = false;
    }
    state->sources.push_back(event.region);
  }

  // An instruction writes to shared memory; the events of its reads came before.
  static void leave(const AccessEvent &event, CoreState *state) {
    if (state->sources_pc != event.pc) state->sources.clear();
    if (event.agent != kCompute) {
      const Region source = state->sources.empty() ? Region{} : state->sources.back();
      state->outgoing[event.agent].push_back({event.region, source, event.space, event.name, event.pc});
      return;
    }
    const bool atomic = event.kind == Kind::kAtomic;
    const Use use = {event.core, atomic ? "atomic" : copy_rule(event.space), event.name, event.pc};
    if (!atomic && event.space == Space::kSram && !is_on("init", use.rule)) return;
    const char *verb = atomic ? "takes into " : "copies to ";
    for (const Region &source : state->sources) examine_source(use, source, verb, name_of(event.space));
    if (atomic) examine_source(use, event.region, "updates");
  }

  // The copy has completed: undefined bytes of its source are now undefined in its target.
  static void arrived(const Core &core, const Outgoing &copy) {
    const Undefined found = find_undefined(copy.target);
    if (found.in_all == 0) return;
    const Use use = {core, copy_rule(copy.target_space), copy.name, copy.pc};
    if (copy.target_space == Space::kSram && !is_on("init", use.rule)) return;
    const std::string verb = std::string("copies to ") + name_of(copy.target_space) + " ";
    const Undefined origin = find_undefined(copy.source);
    const bool unchanged = origin.in_all == found.in_all;
    const Undefined &shown = unchanged ? origin : found;
    report_use(use, shown.begin, shown.bytes, verb + extent_of(shown) + (unchanged ? "" : " of the target"));
    define(copy.target);
  }

  std::vector<CoreState> cores_;  // by place
  std::vector<Range> srams_;      // by cluster: the hull of this job's writes
  RecordCopy record_;
  Range onchip_;
  std::ptrdiff_t delta_ = 0;
  std::uint64_t last_launch_ = 0;
  std::uint64_t unseen_ = 1;
};

}  // namespace

Observer &init_checker() {
  static InitChecker *const checker = new InitChecker;  // never destroyed: the device's thread outlives static objects
  return *checker;
}

void need_initialised_bits(const Core &core, const Region &mask, std::int64_t count, const char *name, const void *pc) {
  if (!g_observers.init) return;
  Region used = mask;
  used.bytes = static_cast<std::size_t>(count / 8);
  const unsigned rest = (1u << (count % 8)) - 1;
  if (rest != 0 && (*init_shadow(mask.base + used.bytes) & rest) != rest) ++used.bytes;
  if (!used.empty()) need_initialised(core, used, "bitmask", name, pc);
}

void need_initialised(const Core &core, const Region &region, const char *role, const char *name, const void *pc) {
  if (!g_observers.init) return;
  examine_source({core, "operand", name, pc}, region, "uses as ", role);
}

}  // namespace mlusim
