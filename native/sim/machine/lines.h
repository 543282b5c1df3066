// Which source line an instruction came from, out of the DWARF line tables of the loaded libraries.
#ifndef MLUSIM_MACHINE_LINES_H_
#define MLUSIM_MACHINE_LINES_H_

#include <string>

namespace mlusim {

struct SourceLine {
  std::string file;  // as the compiler was told: relative paths stay relative
  int line = 0;
};

// `pc` is a return address, so the instruction before it is looked up. False if the library has no line table for it.
bool find_line(const void *pc, SourceLine *line);

// Whether the address lies in a segment of a loaded library or program (code, constants, static variables), and its path, unless
// `name` is null.
bool in_loaded_library(const void *address, std::string *name);

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_LINES_H_
