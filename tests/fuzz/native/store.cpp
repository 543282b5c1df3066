#include "store.h"

#include <cstring>

#include "abi.h"
#include "finding.h"
#include "mlusim.h"

namespace fuzz {
namespace {

enum Direction {
  kToDevice = 0,
  kToHost = 2
};

void copy(const void *target, const void *source, std::size_t size, Direction direction) {
  if (size != 0 && call_by_name("cnrtMemcpy", target, source, size, static_cast<int>(direction)) != 0) {
    finding("cnrtMemcpy refuses a copy: %s", reinterpret_cast<const char *>(call_by_name("mlusimGetLastError")));
  }
}

mlusimCounters counters() {
  mlusimCounters found = {};
  call_by_name("mlusimGetCounters", static_cast<const void *>(&found));
  return found;
}

}  // namespace

void Store::upload() {
  host.keep();
  if (device) copy(pointer, host.data, host.size, kToDevice);
}

std::vector<std::uint8_t> Store::download() const {
  std::vector<std::uint8_t> all(host.size);
  if (device) {
    copy(all.data(), pointer, host.size, kToHost);
  } else {
    all.assign(host.data, host.data + host.size);
  }
  return all;
}

bool Store::unchanged() const {
  if (!device) return host.unchanged();
  const std::vector<std::uint8_t> all = download();
  return all.empty() || std::memcmp(all.data(), host.data, all.size()) == 0;
}

void Stores::begin_run() {
  arena_.begin_run();
  if (!is_simulator()) return;
  call_by_name("mlusimSetChecks", static_cast<int>(MLUSIM_CHECK_ALL));
  call_by_name("mlusimClearFindings");
  launches_ = counters().launches;
}

void Stores::end_run() {
  for (const Store &store : stores_) {
    if (store.device && call_by_name("cnrtFree", static_cast<const void *>(store.pointer)) != 0) {
      finding("cnrtFree refuses memory of cnrtMalloc");
    }
  }
  stores_.clear();
}

void Stores::add(std::size_t size, bool at_begin) {
  Store store;
  store.host = arena_.make(size, at_begin ? Side::kBegin : Side::kEnd);
  store.pointer = store.host.data;
  if (is_simulator()) {
    const void *memory = nullptr;
    const std::size_t some = size == 0 ? 1 : size;
    if (call_by_name("cnrtMalloc", static_cast<const void *>(&memory), some) != 0)
      finding("cnrtMalloc gives no memory");
    store.pointer = static_cast<std::uint8_t *>(const_cast<void *>(memory));
    store.device = true;
  }
  stores_.push_back(store);
}

void Stores::settle(bool refused) {
  if (!is_simulator()) return;
  const std::int64_t error = call_by_name("cnrtSyncDevice");
  mlusimFinding found = {};
  if (call_by_name("mlusimGetFinding", std::int64_t{0}, static_cast<const void *>(&found)) == 0) {
    finding("%s: %s in %s", found.checker, found.message, found.kernel);
  }
  if (error != 0) finding("an operator fails on the device with %lld", static_cast<long long>(error));
  const std::uint64_t launches = counters().launches;
  if (refused && launches != launches_) explain("  a refused call launched a kernel");
  launches_ = launches;
}

}  // namespace fuzz
