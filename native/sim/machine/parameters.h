// The parameters of kernels: the names of the arguments of a launch.
#ifndef MLUSIM_MACHINE_PARAMETERS_H_
#define MLUSIM_MACHINE_PARAMETERS_H_

#include <string>
#include <vector>

#include "machine/launch.h"

namespace mlusim {

// Returns the names in the text of a parameter list; one that has none is empty.
std::vector<std::string> names_in(const std::string &text);

// Returns the name of a parameter of the launched kernel; empty where the sources do not tell it.
std::string parameter_name(const Launch &launch, int number);

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_PARAMETERS_H_
