// The arrays that kernels declare in the memories of a core: the place of each, and the array at an
// address.
#ifndef MLUSIM_MACHINE_ARRAY_H_
#define MLUSIM_MACHINE_ARRAY_H_

#include <functional>
#include <string>

#include "machine/core.h"
#include "mlusim_source.h"

namespace mlusim {

// Unused bytes behind every array, so that an access behind its end does not reach the next array.
constexpr std::size_t kArrayGap = 1024;

// Points the references of file-scope arrays at the memories of `core`.
void bind_arrays(const Core &core);
// After a launch: points those of variables of devices at their initial bytes, for the host.
void unbind_variables();

// Returns the array that holds the address, in any core's memory or among the variables of a
// device; null in a gap. With `near` it
// returns the closest array before a gap.
const Array *array_at(const void *address, const Location &location, bool near = false);

// Returns the constant array that holds the address, or that it is close to; null if there is none.
const Array *constant_near(const void *address);
Range range_of_constant(const Array &array);

// Returns an array by number, over all loaded libraries and memories; null behind the last.
const Array *array_number(std::size_t index);

// Whether the array is declared at file scope, and belongs to every kernel of its source.
bool is_of_file(const Array &array);

// Returns the range of `array` in `piece`, the piece of memory that holds it for one core.
Range range_of(const Array &array, const Range &piece);

// Calls visit(range) for the variables of all files in the memory of a device.
void for_each_variable(int device, const std::function<void(const Range &)> &visit);

// Calls visit(array) for the arrays of the file; with null, for all arrays. `visit` must not create
// or destroy arrays.
void for_each_array(const Unit *unit, const std::function<void(const Array &)> &visit);

// Whether the arrays at file scope of a source fit together into the device's memories; if not,
// `*reason` is a sentence. The arrays of functions count when a launch runs the functions.
bool unit_fits(const Unit *unit, std::string *reason);

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_ARRAY_H_
