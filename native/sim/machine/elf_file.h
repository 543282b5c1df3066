// Sections of the file that a library was loaded from.
#ifndef MLUSIM_MACHINE_ELF_FILE_H_
#define MLUSIM_MACHINE_ELF_FILE_H_

#include <link.h>

#include <string>
#include <vector>

#include "machine/line_table.h"

namespace mlusim {

using ProgramHeaders = std::vector<ElfW(Phdr)>;

// Reads the sections. Returns false if the file cannot be read, is no ELF file of this machine, or
// is another file than the loaded one, which its program headers tell. A file without line tables
// has empty sections.
bool read_line_sections(const std::string &path, const ProgramHeaders &loaded, LineSections *sections);

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_ELF_FILE_H_
