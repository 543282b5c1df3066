// Line tables written by hand, for the tests of the machine's reader.
#ifndef MLUOPS_TESTS_LINE_TABLES_H_
#define MLUOPS_TESTS_LINE_TABLES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "harness.h"
#include "machine/line_table.h"
#include "machine/lines.h"

namespace line_tables {

using mlusim::AddressRange;
using mlusim::Bytes;
using mlusim::LineSections;
using mlusim::LineTable;
using mlusim::SourceLine;

struct Writer {
  Bytes bytes;

  Writer &number(std::uint64_t value, int size) {
    for (int i = 0; i < size; ++i) bytes.push_back(static_cast<unsigned char>(value >> (8 * i)));
    return *this;
  }
  Writer &byte(std::uint64_t value) { return number(value, 1); }
  Writer &string(const char *text) {
    do bytes.push_back(static_cast<unsigned char>(*text));
    while (*text++ != '\0');
    return *this;
  }
  Writer &all(const Writer &other) {
    bytes.insert(bytes.end(), other.bytes.begin(), other.bytes.end());
    return *this;
  }
  Writer &address(std::uint64_t value) {
    return byte(0).byte(1 + sizeof(void *)).byte(2).number(value, sizeof(void *));
  }
  Writer &advance(unsigned value) { return byte(2).byte(value); }  // below 128
  Writer &line(int delta) { return byte(3).byte(static_cast<unsigned>(delta) & 0x7f); }
  Writer &file(unsigned value) { return byte(4).byte(value); }
  Writer &row() { return byte(1); }
  Writer &end() { return byte(0).byte(1).byte(1); }
};

constexpr int kOpcodeBase = 13;
constexpr int kLineBase = -5;
constexpr int kLineRange = 11;
constexpr unsigned kOperands[kOpcodeBase] = {0, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};

inline int special(int address, int line) { return kOpcodeBase + address * kLineRange + line - kLineBase; }

// What differs between headers.
struct Layout {
  int version = 4;
  bool wide = false;  // 64-bit offsets
  int instruction_bytes = 1;
};

// The strings of version 5, each found by where it begins.
using Texts = std::vector<const char *>;
const Texts kDirectories = {"/build", "sub", "/abs"};
const Texts kFiles = {"a.mlu", "b.mlu", "c.mlu", "/whole/d.mlu"};

inline Writer strings_of(const Texts &texts, std::size_t count) {
  Writer writer;
  for (std::size_t i = 0; i < count; ++i) writer.string(texts[i]);
  return writer;
}

std::uint64_t begin_of(const Texts &texts, std::size_t index) { return strings_of(texts, index).bytes.size(); }

inline Writer lists_of(const Layout &layout) {
  Writer lists;
  if (layout.version < 5) {
    return lists.string("sub")
        .string("/abs")
        .string("")
        .string("a.mlu")
        .number(0, 3)
        .string("b.mlu")
        .number(1, 3)
        .string("c.mlu")
        .number(2, 3)
        .string("/whole/d.mlu")
        .number(1, 3)
        .string("");
  }
  const int offset = layout.wide ? 8 : 4;
  // Directories by .debug_line_str; files by .debug_str, with a checksum and a block to step over.
  lists.byte(1).byte(1).byte(0x1f).byte(kDirectories.size());
  for (std::size_t i = 0; i < kDirectories.size(); ++i) lists.number(begin_of(kDirectories, i), offset);
  lists.byte(4).byte(1).byte(0x0e).byte(2).byte(0x0b).byte(5).byte(0x1e).byte(0x3f).byte(0x09).byte(5);
  const struct {
    std::size_t name, directory;
  } files[] = {{0, 0}, {0, 0}, {1, 1}, {2, 2}, {3, 1}};
  for (const auto &file : files) {
    lists.number(begin_of(kFiles, file.name), offset).byte(file.directory);
    lists.number(0, 8).number(0, 8).byte(3).number(0, 3);
  }
  return lists;
}

inline Writer unit(const Layout &layout, const Writer &code) {
  Writer rest;
  rest.byte(static_cast<std::uint64_t>(layout.instruction_bytes));
  if (layout.version >= 4) rest.byte(1);
  rest.byte(1).byte(static_cast<std::uint64_t>(kLineBase)).byte(kLineRange).byte(kOpcodeBase);
  for (int i = 1; i < kOpcodeBase; ++i) rest.byte(kOperands[i]);
  rest.all(lists_of(layout));
  Writer body;
  body.number(static_cast<std::uint64_t>(layout.version), 2);
  if (layout.version >= 5) body.byte(sizeof(void *)).byte(0);
  body.number(rest.bytes.size(), layout.wide ? 8 : 4).all(rest).all(code);
  Writer whole;
  if (layout.wide) whole.number(0xffffffff, 4);
  return whole.number(body.bytes.size(), layout.wide ? 8 : 4).all(body);
}

inline LineSections sections_with(const Writer &line) {
  return {line.bytes, strings_of(kDirectories, kDirectories.size()).bytes, strings_of(kFiles, kFiles.size()).bytes};
}

inline const std::vector<AddressRange> kCode = {{0x1000, 0x2000}, {0x8000, 0x9000}};

inline LineTable table_of(const Writer &line) {
  LineTable table;
  table.decode(sections_with(line), kCode);
  return table;
}

inline std::string line_at(const LineTable &table, std::uint64_t address) {
  SourceLine line;
  return table.find(address, &line) ? line.file + ":" + std::to_string(line.line) : "nothing";
}

// Looks for every address that a table could have; whatever it says, it must not crash.
inline void look_everywhere(const LineTable &table) {
  SourceLine line;
  for (std::uint64_t address = 0; address < 0x2100; address += 7) {
    if (table.find(address, &line)) CHECK(!line.file.empty() && line.line > 0);
  }
  for (const std::uint64_t address : {UINT64_MAX, std::uint64_t{1} << 63, std::uint64_t{0x8000}}) {
    table.find(address, &line);
  }
}

}  // namespace line_tables

#endif  // MLUOPS_TESTS_LINE_TABLES_H_
