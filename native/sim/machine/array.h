// The arrays that kernels declare in the memories of a core: where each lies, and which one an address belongs to.
#ifndef MLUSIM_MACHINE_ARRAY_H_
#define MLUSIM_MACHINE_ARRAY_H_

#include <functional>
#include <string>

#include "machine/core.h"
#include "mlusim_source.h"

namespace mlusim {

// Unused room after every array: an access behind its end does not reach the next array.
constexpr std::size_t kArrayGap = 1024;

// Points the references of file-scope arrays at the memories of `core`.
void bind_arrays(const Core &core);

// The array whose bytes hold the address, in any core's memory; null in a gap. With `near`, the one that lies closest before it.
const Array *array_at(const void *address, const Location &location, bool near = false);

// All arrays of the loaded libraries by number, memory by memory; null behind the last.
const Array *array_number(std::size_t index);

// Where `array` lies in the piece of memory that holds it for one core.
Range range_of(const Array &array, const Range &piece);

// Calls visit(array) for those of the file; null: for all. It must not make or end arrays.
void for_each_array(const Unit *unit, const std::function<void(const Array &)> &visit);

// Whether the arrays of the file fit together into the memories of the device; else a sentence in `*reason`.
bool unit_fits(const Unit *unit, std::string *reason);

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_ARRAY_H_
