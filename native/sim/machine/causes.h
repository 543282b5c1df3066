// Causes and consequences among the findings of a launch.
#ifndef MLUSIM_MACHINE_CAUSES_H_
#define MLUSIM_MACHINE_CAUSES_H_

#include <string>
#include <vector>

#include "mlusim.h"

namespace mlusim {

// Puts what may be the cause of others first, behind it what follows from it, and enters each
// cause. Findings come in the order in which they were found.
void order_by_cause(std::vector<mlusimFinding> *findings);

// Returns the number of findings behind the one at `index` that follow from it.
std::size_t count_following(const std::vector<mlusimFinding> &findings, std::size_t index);

// "1 finding that follows", "2 findings that follow".
std::string following_text(std::size_t count);

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_CAUSES_H_
