// The line table of one library: DWARF 2 to 5, as compilers and linkers write it into .debug_line.
#ifndef MLUSIM_MACHINE_LINE_TABLE_H_
#define MLUSIM_MACHINE_LINE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "machine/lines.h"

namespace mlusim {

using Bytes = std::vector<unsigned char>;

// The sections that a table is decoded from. A missing section is empty.
struct LineSections {
  Bytes line;          // .debug_line
  Bytes line_strings;  // .debug_line_str
  Bytes strings;       // .debug_str
};

struct AddressRange {
  std::uint64_t begin;
  std::uint64_t end;
};

class LineTable {
 public:
  // Decodes the table. Addresses are those of the file, before it is loaded. `code` holds the
  // ranges of the instructions: linkers keep the tables of functions that they dropped, with
  // addresses outside. Never fails: rows that cannot be read are left out.
  void decode(const LineSections &sections, const std::vector<AddressRange> &code);

  // Finds the line of the instruction that holds the address.
  bool find(std::uint64_t address, SourceLine *line) const;

 private:
  struct Row {
    std::uint64_t address;
    std::uint32_t file;  // in files_
    std::uint32_t line;
  };
  // Rows of consecutive instructions; the last row ends before `end`.
  struct Sequence {
    std::uint64_t begin;
    std::uint64_t end;
    std::size_t first;  // in rows_
    std::size_t count;
  };
  struct Program;

  void run(Program program, const std::vector<AddressRange> &code);
  void end_sequence(std::size_t first, std::uint64_t end, const std::vector<AddressRange> &code);
  std::uint32_t number_of(const std::string &file);

  std::vector<std::string> files_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<Row> rows_;
  std::vector<Sequence> sequences_;  // ascending
};

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_LINE_TABLE_H_
