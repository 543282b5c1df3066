// Records the arrays in NRAM, WRAM and SRAM that a launch touches, and the last byte touched in
// each.
#ifndef MLUSIM_PROFILE_USAGE_H_
#define MLUSIM_PROFILE_USAGE_H_

#include <cstddef>
#include <vector>

#include "machine/array.h"
#include "machine/observer.h"
#include "mlusim_profile.h"

namespace mlusim {

class ArrayUsage {
 public:
  // A launch of a kernel begins; `unit` is its file, or null.
  void begin(const Unit *unit);
  void touch(const AccessEvent &event);
  // Returns all arrays of the files with touched arrays, and of the launch's file.
  std::vector<mlusimArray> end() const;

 private:
  struct Used {
    Space space;
    std::size_t begin, end;  // from the start of the memory
    std::size_t most;        // the end of the last byte touched, from `begin`
    const Array *array;
  };
  const Unit *unit_ = nullptr;
  std::vector<Used> used_;  // the array touched last stands first
};

mlusimArray describe(const Array &array);

}  // namespace mlusim

#endif  // MLUSIM_PROFILE_USAGE_H_
