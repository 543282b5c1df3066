#include "machine/missing_memory.h"

#include <cstring>

#include "machine/fiber.h"
#include "machine/trap.h"

namespace mlusim {

void note_missing_read(Core &core) {
  core.read_missing = true;
  ask_for_undoing(true);
}

void undo_store(Core &core) {
  UndoneStore &store = core.undone_store;
  if (store.place == nullptr) return;
  std::memcpy(store.place, store.before.data(), store.before.size());
  store.place = nullptr;
}

void undo_store_before(Core &core, Kind kind) {
  if (kind == Kind::kRead && !core.undone_store.read_since) {
    core.undone_store.read_since = true;
  } else {
    undo_store(core);
  }
}

bool will_undo(Core &core, const void *address, std::size_t bytes, Kind kind, Space space, const void *pc) {
  if (!core.is_mpu()) return false;
  if (kind == Kind::kRead && core.is_scratch(address)) note_missing_read(core);
  if (!core.read_missing || kind != Kind::kWrite || (space != Space::kGdram && space != Space::kSram)) return false;
  UndoneStore &store = core.undone_store;
  char *const place = const_cast<char *>(static_cast<const char *>(address));
  store.before.assign(place, place + bytes);
  store.place = place;
  store.read_since = false;
  FindingText text = {"memory", "memory-core-store"};
  text.pc = pc;
  text.address = address;
  text.size = bytes;
  text.message = "a memory core stores a value computed from NRAM or WRAM, which it does not have: the store is undone";
  report(&core, text);
  return true;
}

}  // namespace mlusim
