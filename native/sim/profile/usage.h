// Which of the arrays in NRAM, WRAM and SRAM a launch touches, and up to which byte.
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
  // A launch of a kernel begins; `unit` is the file that it stands in, or null.
  void begin(const Unit *unit);
  void touch(const AccessEvent &event);
  // All arrays of the files whose arrays were touched, and of the launch's.
  std::vector<mlusimArray> end() const;

 private:
  struct Used {
    Space space;
    std::size_t begin, end;  // of the array, from the start of its memory
    std::size_t most;        // bytes of it that were touched
    const Array *array;
  };
  const Unit *unit_ = nullptr;
  std::vector<Used> used_;  // the one that was touched last stands first
};

mlusimArray describe(const Array &array);

}  // namespace mlusim

#endif  // MLUSIM_PROFILE_USAGE_H_
