// Finds operands that break an architecture's rules about addresses, sizes and overlaps. A device
// answers such mistakes with wrong results, or not at all.
//
// align_rules.inc lists the rules of each instruction. Some working kernels for the 3xx family and
// later break certain rules; those rules are not checked for these families.
#ifndef MLUSIM_CHECK_ALIGN_H_
#define MLUSIM_CHECK_ALIGN_H_

#include <cstddef>
#include <cstdint>

#include "machine/instruction.h"
#include "machine/observer.h"

namespace mlusim {

// This observer only records whether the checker is on. Intrinsics call the functions below, which
// do nothing while it is off.
Observer &align_checker();

// Whether the checker watches the running launch.
bool align_is_watched();

// Reports an instruction that works on zero elements.
void align_check_count(const Call &call);

// Checks addresses, sizes and overlaps of operands in NRAM.
void align_check(const Call &call, const Operand *operands, std::size_t count, const Amount &amount);

// Checks that `count`, the number of elements worked on, is a multiple of `of`, the length of the
// repeated operand.
void align_check_multiple(const Call &call, std::int64_t count, std::int64_t of);

// Checks an operand in GDRAM that an instruction changes element by element.
void align_check_element(const Call &call, const void *address, std::size_t element);

// Checks a filter in WRAM that the tensor unit reads.
void align_check_filter(const Call &call, const Operand &filter);

void align_check_copy(const Call &call, const Transfer &transfer, bool strided);

}  // namespace mlusim

#endif  // MLUSIM_CHECK_ALIGN_H_
