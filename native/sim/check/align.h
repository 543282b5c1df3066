// Finds operands that break the rules of an architecture about addresses, sizes and overlaps: mistakes that a device answers with
// wrong results, or not at all.
//
// Which rule belongs to which instruction stands in align_rules.inc. Rules that working kernels for the 3xx family and later are
// known to break are not held against those.
#ifndef MLUSIM_CHECK_ALIGN_H_
#define MLUSIM_CHECK_ALIGN_H_

#include <cstddef>
#include <cstdint>

#include "machine/instruction.h"
#include "machine/observer.h"

namespace mlusim {

// Knows only whether it watches: instructions ask by the functions below, which do nothing while it does not.
Observer &align_checker();

// The instruction works on nothing.
void align_check_count(const Call &call);

// Addresses, sizes and overlaps of operands in NRAM.
void align_check(const Call &call, const Operand *operands, std::size_t count, const Amount &amount);

// `count` elements are worked on by repeating `of` of them.
void align_check_multiple(const Call &call, std::int64_t count, std::int64_t of);

// An operand in GDRAM that is changed element by element.
void align_check_element(const Call &call, const void *address, std::size_t element);

// A filter in WRAM that the tensor unit reads.
void align_check_filter(const Call &call, const Operand &filter);

void align_check_copy(const Call &call, const Transfer &transfer, bool strided);

}  // namespace mlusim

#endif  // MLUSIM_CHECK_ALIGN_H_
