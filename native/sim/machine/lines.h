// Finds the source line of an instruction in the DWARF line tables of the loaded libraries.
#ifndef MLUSIM_MACHINE_LINES_H_
#define MLUSIM_MACHINE_LINES_H_

#include <string>

namespace mlusim {

struct SourceLine {
  std::string file;  // as it was given to the compiler: relative paths stay relative
  int line = 0;
};

// Finds the line of the instruction before `pc`, which is a return address. False if the library
// has no line table for it.
bool find_line(const void *pc, SourceLine *line);

// Whether the address lies in a segment of a loaded library or program (code, constants, static
// variables). `*name` becomes its path, unless `name` is null.
bool in_loaded_library(const void *address, std::string *name);

// Whether both addresses lie in segments of the same loaded library or program.
bool same_library(const void *a, const void *b);

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_LINES_H_
