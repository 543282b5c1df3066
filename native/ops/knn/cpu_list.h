// Lists of the nearest points found so far.
#ifndef MLUOPS_OPS_KNN_CPU_LIST_H_
#define MLUOPS_OPS_KNN_CPU_LIST_H_

#include "cpu/tree_search.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

// Keys are below 2^63, so that signed comparisons, which vectors have, sort them too.
typedef std::int64_t Keys __attribute__((vector_size(kLanes * sizeof(float))));
constexpr int kKeys = sizeof(Keys) / sizeof(std::int64_t);

// What a place of a sorted list holds after an insertion: the middle one of what it holds, what the
// place before holds, and the key.
static inline Keys inserted(Keys held, Keys before, Keys key) {
  const Keys moved = before > key ? before : key;
  return held < moved ? held : moved;
}

// The last keys of one vector, then the others.
template <int... kLane>
static inline Keys moved_by_one(Keys before, Keys held, Lanes<kLane...>) {
  return __builtin_shufflevector(before, held, (kKeys - 1 + kLane)...);
}
#if defined(__AVX512F__)
typedef Lanes<0, 1, 2, 3, 4, 5, 6, 7> KeyLanes;
#elif defined(__AVX2__)
typedef Lanes<0, 1, 2, 3> KeyLanes;
#else
typedef Lanes<0, 1> KeyLanes;
#endif

// At most kVectors vectors of keys, ascending, at the end of them; places before are 0.
template <int kVectors>
class ShortList {
 public:
  static constexpr std::int64_t kMost = kVectors * kKeys;

  ShortList(std::int64_t *, std::int64_t count) : first_(static_cast<int>(kMost - count)) {}

  void clear(NearKey missing) {
    std::int64_t keys[kMost];
    for (int i = 0; i < kMost; ++i) keys[i] = i < first_ ? 0 : static_cast<std::int64_t>(missing);
    std::memcpy(keys_, keys, sizeof keys_);
  }

  NearKey worst() const { return static_cast<NearKey>(keys_[kVectors - 1][kKeys - 1]); }
  NearKey operator[](std::int64_t i) const {
    const std::int64_t place = first_ + i;
    return static_cast<NearKey>(keys_[place / kKeys][place % kKeys]);
  }

  // Drops the key if the list has only lesser ones.
  void insert(NearKey key) {
    const Keys added = Keys{} + static_cast<std::int64_t>(key);
#pragma GCC unroll 4
    for (int v = kVectors - 1; v > 0; --v)
      keys_[v] = inserted(keys_[v], moved_by_one(keys_[v - 1], keys_[v], KeyLanes()), added);
    keys_[0] = inserted(keys_[0], moved_by_one(Keys{}, keys_[0], KeyLanes()), added);
  }

 private:
  Keys keys_[kVectors];
  int first_;
};

// Any number of keys, ascending, in memory of the caller.
class LongList {
 public:
  // Numbers of 64 bits that a list of `count` keys needs.
  static std::int64_t room(std::int64_t count) { return kFront + (count + kKeys - 1) / kKeys * kKeys; }

  LongList(std::int64_t *memory, std::int64_t count)
      : keys_(memory + kFront), count_(count), vectors_((count + kKeys - 1) / kKeys) {}

  void clear(NearKey missing) {
    keys_[-1] = 0;  // no key is less
    for (std::int64_t i = 0; i < vectors_ * kKeys; ++i) keys_[i] = static_cast<std::int64_t>(missing);
  }

  NearKey worst() const { return static_cast<NearKey>(keys_[count_ - 1]); }
  NearKey operator[](std::int64_t i) const { return static_cast<NearKey>(keys_[i]); }

  // The front of the list stays as it is.
  void insert(NearKey key) {
    const Keys added = Keys{} + static_cast<std::int64_t>(key);
    for (std::int64_t v = vectors_ - 1; v >= 0; --v) {
      std::int64_t *const place = keys_ + v * kKeys;
      const Keys kept = inserted(load_keys(place), load_keys(place - 1), added);
      std::memcpy(place, &kept, sizeof kept);
      if (static_cast<NearKey>(place[-1]) < key) return;
    }
  }

 private:
  static constexpr int kFront = 8;  // keeps the keys at a cache line

  static Keys load_keys(const std::int64_t *from) {
    Keys keys;
    std::memcpy(&keys, from, sizeof keys);
    return keys;
  }

  std::int64_t *keys_;
  std::int64_t count_, vectors_;
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_KNN_CPU_LIST_H_
