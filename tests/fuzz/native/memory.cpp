#include "memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "finding.h"

namespace fuzz {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kCanary = 128;

std::uint8_t *map_region() {
  const std::size_t whole = kLargestBuffer + 2 * kPage;
  void *memory = mmap(nullptr, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) finding("the fuzzer is out of memory");
  auto *inside = static_cast<std::uint8_t *>(memory) + kPage;
  if (mprotect(inside, kLargestBuffer, PROT_READ | PROT_WRITE) != 0) finding("mprotect failed");
  return inside;
}

}  // namespace

void Buffer::keep() { before.assign(region, region + region_size); }

bool Buffer::unchanged() const { return std::memcmp(region, before.data(), region_size) == 0; }

bool Buffer::canaries_intact() const {
  const auto front = static_cast<std::size_t>(data - region);
  return std::memcmp(region, before.data(), front) == 0 &&
         std::memcmp(data + size, before.data() + front + size, region_size - front - size) == 0;
}

void Buffer::restore() const { std::memcpy(region, before.data(), region_size); }

Buffer Arena::make(std::size_t size, Side side, std::uint8_t fill) {
  if (size > kLargestBuffer) finding("the fuzzer asks for too large a buffer");
  if (used_ == regions_.size()) regions_.push_back(map_region());
  std::uint8_t *inside = regions_[used_++];
  const std::size_t canary = std::min(kCanary, kLargestBuffer - size);
  Buffer buffer;
  buffer.size = size;
  buffer.region_size = size + canary;
  buffer.region = side == Side::kEnd ? inside + kLargestBuffer - buffer.region_size : inside;
  buffer.data = side == Side::kEnd ? buffer.region + canary : inside;
  std::memset(buffer.region, 0xc3, buffer.region_size);
  std::memset(buffer.data, fill, size);
  buffer.keep();
  return buffer;
}

}  // namespace fuzz
