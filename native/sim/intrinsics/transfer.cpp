#include "intrinsics/transfer.h"

#include <cstring>
#include <numeric>
#include <string>

#include "intrinsics/shadow.h"
#include "machine/lanes.h"
#include "machine/model.h"
#include "machine/trap.h"

namespace mlusim {
namespace {

// The source and target of each direction, by its number.
constexpr Direction kEnds[kDirections] = {
    {Space::kGdram, Space::kNram},  {Space::kNram, Space::kGdram},  {Space::kLdram, Space::kNram},
    {Space::kNram, Space::kLdram},  {Space::kGdram, Space::kWram},  {Space::kWram, Space::kGdram},
    {Space::kLdram, Space::kWram},  {Space::kWram, Space::kLdram},  {Space::kNram, Space::kNram},
    {Space::kNram, Space::kWram},   {Space::kWram, Space::kNram},   {Space::kGdram, Space::kSram},
    {Space::kSram, Space::kGdram},  {Space::kLdram, Space::kSram},  {Space::kSram, Space::kLdram},
    {Space::kSram, Space::kNram},   {Space::kNram, Space::kSram},   {Space::kSram, Space::kWram},
    {Space::kWram, Space::kSram},   {Space::kGdram, Space::kGdram}, {Space::kGdram, Space::kLdram},
    {Space::kLdram, Space::kGdram}, {Space::kLdram, Space::kLdram}, {Space::kSram, Space::kSram}};

bool is_inner(Space space) { return space == Space::kNram || space == Space::kWram; }
bool is_on_chip(Space space) { return is_inner(space) || space == Space::kSram; }

// ---- Pending transfers --------------------------------------------------------------------------

void move_all(const Region &target, const Region &source, Space source_space) {
  move_pieces(target, source);
  if (!g_observers.init) return;
  const Region shadow = target.moved(init_delta());
  if (has_shadow(source_space)) {
    move_pieces(shadow, source.moved(init_delta()));
  } else {
    fill_pieces(shadow, 0xff);
  }
}

template <typename Word>
void fill_words(char *begin, std::size_t bytes, std::uint64_t bits) {
  const Word word = static_cast<Word>(bits);
  for (std::size_t i = 0; i + sizeof word <= bytes; i += sizeof word) std::memcpy(begin + i, &word, sizeof word);
}

void fill_all(const Region &target, const Pattern &pattern) {
  for_each_piece(target, [&pattern](char *begin, std::size_t bytes) {
    switch (pattern.element) {
      case 1:
        std::memset(begin, static_cast<int>(pattern.bits), bytes);
        break;
      case 2:
        fill_words<std::uint16_t>(begin, bytes, pattern.bits);
        break;
      case 4:
        fill_words<std::uint32_t>(begin, bytes, pattern.bits);
        break;
      default:
        fill_words<std::uint64_t>(begin, bytes, pattern.bits);
    }
  });
  if (g_observers.init) fill_pieces(target.moved(init_delta()), 0xff);
}

// Returns the same bytes in the same order, with pieces as large as possible.
Region joined(Region region) {
  for (int level = 0; level < 2; ++level) {
    if (region.count0 != 1 && region.stride0 != static_cast<std::int64_t>(region.bytes)) break;
    region.bytes *= static_cast<std::size_t>(region.count0);
    region.count0 = region.count1;
    region.stride0 = region.stride1;
    region.count1 = 1;
    region.stride1 = 0;
  }
  return region;
}

void run_move(const PendingCopy &copy) { move_all(copy.target, copy.source, copy.source_space); }
void run_fill(const PendingCopy &copy) { fill_all(copy.target, {copy.value, copy.element}); }

}  // namespace

Direction ends_of(const Call &call, int direction) {
  if (direction >= 0 && direction < kDirections) return kEnds[direction];
  refuse(call, "bad-argument", "there is no direction " + std::to_string(direction));
}

bool carries_out(const Core &core, const Direction &direction) {
  if (is_inner(direction.source) || is_inner(direction.target)) return !core.is_mpu();
  const bool with_sram = direction.source == Space::kSram || direction.target == Space::kSram;
  // A Block task has neither SRAM nor memory cores; it performs the copy and so reports the wrong
  // operand.
  return !with_sram || core.is_mpu() || !in_union();
}

Agent agent_of(const Direction &direction) {
  const bool inside = is_on_chip(direction.source) && is_on_chip(direction.target);
  if (device().arch >= 300) return inside ? kMove : kIo;
  return direction.source == Space::kNram && direction.target == Space::kNram ? kCompute : kIo;
}

char *lane_base(const Call &call, const Operand &operand, std::int64_t bytes) {
  const LanePlace place = lane_place(operand.region.base);
  if (place.first == nullptr) return operand.region.base;
  char *base = operand.region.base;
  std::int64_t offset = place.offset;
  if (place.lane != 0) {
    FindingText text = {"memory", "lane-overflow"};
    text.pc = call.pc;
    text.address = base;
    text.message = std::string(call.name) + ": " + operand.role + " begins " + std::to_string(base - place.first) +
                   " bytes behind the start of its array, and a lane of WRAM has " + std::to_string(lane_size()) +
                   "; taken for an offset of all 64 lanes together";
    report(&call.core, text);
    offset = (base - place.first) / kLanes;
    base = place.first + offset;
  }
  if (offset + bytes <= lane_size()) return base;
  refuse(call, "out-of-bounds",
         std::string(operand.role) + " takes " + std::to_string(bytes) + " bytes of each lane from byte " +
             std::to_string(offset) + " on, and a lane of WRAM has " + std::to_string(lane_size()),
         base);
}

bool fills_wram_in_order(const Transfer &strided) {
  const Region &target = strided.target.region;
  if (strided.target.space != Space::kWram || target.stride0 == lane_size()) return false;
  const std::int64_t bytes = static_cast<std::int64_t>(target.bytes);
  const bool rows = target.count1 == 1 || target.stride1 == bytes * target.count0;
  if (target.stride0 != bytes || !rows) return false;
  // Each piece is cut where a lane ends: one level of repetition of the source is needed for that.
  const Region source = joined(strided.source.region);
  const std::int64_t share = lane_share(bytes * target.pieces());
  return source.count1 == 1 || share % static_cast<std::int64_t>(source.bytes) == 0;
}

Transfer in_wram_lanes(const Call &call, const Transfer &linear) {
  const bool to_wram = linear.target.space == Space::kWram;
  if (!to_wram && linear.source.space != Space::kWram) return linear;
  Transfer spread = linear;
  Operand &lanes = to_wram ? spread.target : spread.source;
  Region &other = to_wram ? spread.source.region : spread.target.region;
  const std::int64_t bytes = static_cast<std::int64_t>(lanes.region.bytes) * lanes.region.pieces();
  const std::int64_t share = lane_share(bytes);
  other = joined(other);
  const std::int64_t row = static_cast<std::int64_t>(other.bytes);
  const std::int64_t part = std::gcd(row, share);  // the largest piece that ends with each lane and each row
  lanes.region = in_lanes(lane_base(call, lanes, share), static_cast<std::size_t>(part), bytes / share);
  if (part != share) {
    lanes.region.count1 = lanes.region.count0;
    lanes.region.stride1 = lanes.region.stride0;
    lanes.region.count0 = share / part;
    lanes.region.stride0 = part;
  }
  if (part != row) {
    other.count1 = other.count0;
    other.stride1 = other.stride0;
    other.count0 = row / part;
    other.stride0 = part;
    other.bytes = static_cast<std::size_t>(part);
  }
  return spread;
}

void perform(const Call &call, const Transfer &transfer) {
  if (g_observers.any()) {
    tell(call, transfer.source);
    tell(call, transfer.target);
  }
  move_all(transfer.target.region, transfer.source.region, transfer.source.space);
}

void drain_pipe(const Call &call, const Direction &direction) {
  const Agent agent = agent_of(direction);
  if (agent == kCompute || call.core.pending[agent].empty()) return;
  call.core.implied_wait = true;
  wait_for(call.core, 1u << agent, call.pc);
  call.core.implied_wait = false;
}

void start(const Call &call, const Transfer &transfer, Agent agent) {
  if (agent == kCompute) return perform(call, transfer);
  PendingCopy copy;
  copy.target = transfer.target.region;
  copy.source = transfer.source.region;
  copy.target_space = transfer.target.space;
  copy.source_space = transfer.source.space;
  copy.name = call.name;
  copy.pc = call.pc;
  copy.run = run_move;
  issue(call.core, agent, copy);
}

void perform_fill(const Call &call, const Operand &target, const Pattern &pattern) {
  if (g_observers.any()) tell(call, target);
  fill_all(target.region, pattern);
}

void start_fill(const Call &call, const Operand &target, const Pattern &pattern, Agent agent) {
  PendingCopy copy;
  copy.target = target.region;
  copy.target_space = target.space;
  copy.name = call.name;
  copy.pc = call.pc;
  copy.run = run_fill;
  copy.value = pattern.bits;
  copy.element = pattern.element;
  issue(call.core, agent, copy);
}

}  // namespace mlusim
