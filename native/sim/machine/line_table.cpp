#include "machine/line_table.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <utility>

namespace mlusim {
namespace {

enum StandardOpcode : unsigned {
  kExtended = 0,
  kCopy = 1,
  kAdvancePc = 2,
  kAdvanceLine = 3,
  kSetFile = 4,
  kConstAddPc = 8,
  kFixedAdvancePc = 9,
};

enum ExtendedOpcode : unsigned {
  kEndSequence = 1,
  kSetAddress = 2,
};

// Encodings of values in the lists of directories and files (version 5).
enum Form : std::uint64_t {
  kData2 = 0x05,
  kData4 = 0x06,
  kData8 = 0x07,
  kString = 0x08,
  kBlock = 0x09,
  kData1 = 0x0b,
  kStringOffset = 0x0e,
  kUnsigned = 0x0f,
  kData16 = 0x1e,
  kLineStringOffset = 0x1f,
};

enum Content : std::uint64_t {
  kPath = 1,
  kDirectory = 2,
};

// Reads values in sequence. After the end, or after bytes that make no sense, good() is false and
// all values are 0.
class Reader {
 public:
  Reader() = default;
  Reader(const unsigned char *begin, const unsigned char *end) : at_(begin), end_(end) {}
  explicit Reader(const Bytes &bytes) : Reader(bytes.data(), bytes.data() + bytes.size()) {}

  bool good() const { return good_; }
  bool at_end() const { return at_ == end_; }
  void fail() {
    at_ = end_;
    good_ = false;
  }

  // A number of up to 8 bytes.
  std::uint64_t number(std::uint64_t bytes) {
    static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are read into their low bytes");
    std::uint64_t value = 0;
    const Reader source = part(bytes > sizeof value ? UINT64_MAX : bytes);
    if (good_) std::memcpy(&value, source.at_, bytes);
    return value;
  }

  std::uint64_t unsigned_leb() {
    int bits = 0;
    return leb(&bits);
  }

  std::int64_t signed_leb() {
    int bits = 0;
    std::uint64_t value = leb(&bits);
    if (bits < 64 && bits > 0 && (value >> (bits - 1) & 1) != 0) value |= ~std::uint64_t{0} << bits;
    return static_cast<std::int64_t>(value);
  }

  std::string string() {
    const unsigned char *zero = at_ == end_ ? nullptr : static_cast<const unsigned char *>(std::memchr(at_, 0, left()));
    if (zero == nullptr) {
      fail();
      return {};
    }
    std::string text(at_, zero);
    at_ = zero + 1;
    return text;
  }

  // Returns a reader of the next bytes alone.
  Reader part(std::uint64_t bytes) {
    if (bytes > left()) {
      fail();
      return {};
    }
    const unsigned char *begin = at_;
    at_ += bytes;
    return {begin, at_};
  }

 private:
  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

  std::uint64_t leb(int *bits) {
    std::uint64_t value = 0;
    while (at_ != end_) {
      const unsigned char byte = *at_++;
      if (*bits < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << *bits;
      *bits += 7;
      if ((byte & 0x80) == 0) return value;
      if (*bits > 1000) break;
    }
    fail();
    return 0;
  }

  const unsigned char *at_ = nullptr;
  const unsigned char *end_ = nullptr;
  bool good_ = true;
};

std::string string_at(const Bytes &section, std::uint64_t offset) {
  Reader reader(section);
  reader.part(offset);
  return reader.string();
}

bool holds(const std::vector<AddressRange> &ranges, std::uint64_t address) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const AddressRange &range) { return address >= range.begin && address < range.end; });
}

struct File {
  std::string name;
  std::uint64_t directory = 0;
};

struct ValueFormat {
  std::uint64_t content;
  std::uint64_t form;
};

}  // namespace

// The line-number program of one compilation: its instructions, and the header that tells how to
// read them.
struct LineTable::Program {
  // The registers of the line-number state machine.
  struct State {
    std::uint64_t address = 0;
    std::uint64_t line = 1;
    std::uint64_t file = 1;
  };
  // The effect of an instruction.
  enum class Step {
    kNothing,
    kRow,
    kEnd,
  };

  // Reads the next program from the section. The reader is not good() afterwards if the program
  // cannot be understood.
  bool read(Reader *section, const LineSections &sections);
  bool at_end() const { return code.at_end(); }
  // Runs the next instruction.
  Step step(State *state);
  // Returns the name of a file as it was given to the compiler.
  std::string file_name(std::uint64_t number) const;

  unsigned version = 0;
  unsigned offset_bytes = 4;
  std::uint64_t instruction_bytes = 1;
  std::int64_t line_base = 0;
  std::uint64_t line_range = 1;
  std::uint64_t opcode_base = 1;
  std::vector<std::uint64_t> operand_counts;  // of the opcodes, from 1 on
  std::vector<std::string> directories;
  std::vector<File> files;
  Reader code;

 private:
  void read_lists(Reader *header);
  std::vector<File> read_formatted_list(Reader *header, const LineSections &sections);
  void read_value(Reader *header, const ValueFormat &format, const LineSections &sections, File *file) const;
  std::string read_text(Reader *header, std::uint64_t form, const LineSections &sections) const;
  std::uint64_t read_number(Reader *header, std::uint64_t form) const;
  Step run_standard(std::uint64_t opcode, State *state);
  Step run_extended(State *state);
  void advance(std::uint64_t operations, State *state) const { state->address += operations * instruction_bytes; }
};

bool LineTable::Program::read(Reader *section, const LineSections &sections) {
  std::uint64_t length = section->number(4);
  if (length == 0xffffffff) {
    offset_bytes = 8;
    length = section->number(8);
  }
  Reader unit = section->part(length);
  version = static_cast<unsigned>(unit.number(2));
  if (version < 2 || version > 5) return false;
  if (version >= 5) unit.number(2);  // sizes of an address and of a segment selector
  Reader header = unit.part(unit.number(offset_bytes));
  code = unit;
  instruction_bytes = header.number(1);
  if (version >= 4) header.number(1);  // operations in an instruction: one, except on VLIW processors
  header.number(1);                    // whether rows begin as statements
  line_base = static_cast<std::int8_t>(header.number(1));
  line_range = header.number(1);
  opcode_base = header.number(1);
  if (line_range == 0 || opcode_base == 0) return false;
  for (std::uint64_t opcode = 1; opcode < opcode_base; ++opcode) operand_counts.push_back(header.number(1));
  if (version >= 5) {
    for (File &directory : read_formatted_list(&header, sections)) directories.push_back(std::move(directory.name));
    files = read_formatted_list(&header, sections);
  } else {
    read_lists(&header);
  }
  return header.good() && unit.good();
}

void LineTable::Program::read_lists(Reader *header) {
  directories.emplace_back();  // directory 0 is the compiler's working folder
  for (std::string name = header->string(); !name.empty(); name = header->string()) {
    directories.push_back(std::move(name));
  }
  files.emplace_back();  // files are numbered from 1
  for (std::string name = header->string(); !name.empty(); name = header->string()) {
    files.push_back({std::move(name), header->unsigned_leb()});
    header->unsigned_leb();  // modification time
    header->unsigned_leb();  // length
  }
}

std::vector<File> LineTable::Program::read_formatted_list(Reader *header, const LineSections &sections) {
  std::vector<ValueFormat> formats(header->number(1));
  for (ValueFormat &format : formats) {
    format.content = header->unsigned_leb();
    format.form = header->unsigned_leb();
  }
  const std::uint64_t count = header->unsigned_leb();
  if (formats.empty() && count > 0) header->fail();
  std::vector<File> list;
  while (header->good() && list.size() < count) {
    list.emplace_back();
    for (const ValueFormat &format : formats) read_value(header, format, sections, &list.back());
  }
  return list;
}

void LineTable::Program::read_value(Reader *header, const ValueFormat &format, const LineSections &sections,
                                    File *file) const {
  if (format.content == kPath) {
    file->name = read_text(header, format.form, sections);
  } else if (format.content == kDirectory) {
    file->directory = read_number(header, format.form);
  } else if (format.form == kBlock || format.form == kData16) {
    header->part(format.form == kBlock ? header->unsigned_leb() : 16);  // a checksum, or a vendor's extension
  } else if (format.form == kString) {
    header->string();
  } else {
    read_number(header, format.form);
  }
}

std::string LineTable::Program::read_text(Reader *header, std::uint64_t form, const LineSections &sections) const {
  if (form == kString) return header->string();
  if (form == kStringOffset) return string_at(sections.strings, header->number(offset_bytes));
  if (form == kLineStringOffset) return string_at(sections.line_strings, header->number(offset_bytes));
  header->fail();
  return {};
}

std::uint64_t LineTable::Program::read_number(Reader *header, std::uint64_t form) const {
  if (form == kUnsigned) return header->unsigned_leb();
  if (form == kStringOffset || form == kLineStringOffset) return header->number(offset_bytes);
  return header->number(form == kData1 ? 1 : form == kData2 ? 2 : form == kData4 ? 4 : form == kData8 ? 8 : UINT64_MAX);
}

std::string LineTable::Program::file_name(std::uint64_t number) const {
  const File &file = files[number];
  // Directory 0 is the compiler's working folder: names in it were given without it.
  const bool complete = file.name.empty() || file.name[0] == '/' || file.directory == 0;
  if (complete || file.directory >= directories.size() || directories[file.directory].empty()) return file.name;
  return directories[file.directory] + "/" + file.name;
}

LineTable::Program::Step LineTable::Program::step(State *state) {
  const std::uint64_t opcode = code.number(1);
  if (opcode == kExtended) return run_extended(state);
  if (opcode < opcode_base) return run_standard(opcode, state);
  const std::uint64_t special = opcode - opcode_base;
  advance(special / line_range, state);
  state->line += static_cast<std::uint64_t>(line_base) + special % line_range;
  return Step::kRow;
}

LineTable::Program::Step LineTable::Program::run_standard(std::uint64_t opcode, State *state) {
  switch (opcode) {
    case kCopy:
      return Step::kRow;
    case kAdvancePc:
      advance(code.unsigned_leb(), state);
      break;
    case kAdvanceLine:
      state->line += static_cast<std::uint64_t>(code.signed_leb());
      break;
    case kSetFile:
      state->file = code.unsigned_leb();
      break;
    case kConstAddPc:
      advance((255 - opcode_base) / line_range, state);
      break;
    case kFixedAdvancePc:
      state->address += code.number(2);
      break;
    default:  // says nothing about lines
      for (std::uint64_t i = operand_counts[opcode - 1]; i > 0; --i) code.unsigned_leb();
      break;
  }
  return Step::kNothing;
}

LineTable::Program::Step LineTable::Program::run_extended(State *state) {
  Reader operands = code.part(code.unsigned_leb());
  const std::uint64_t opcode = operands.at_end() ? 0 : operands.number(1);
  if (opcode == kSetAddress) state->address = operands.number(sizeof(void *));
  return opcode == kEndSequence ? Step::kEnd : Step::kNothing;
}

void LineTable::run(Program program, const std::vector<AddressRange> &code) {
  constexpr std::uint32_t kUnknown = UINT32_MAX;
  std::vector<std::uint32_t> numbers(program.files.size(), kUnknown);
  std::size_t first = rows_.size();
  Program::State state;
  while (!program.at_end()) {
    const Program::Step step = program.step(&state);
    if (step == Program::Step::kRow) {
      std::uint32_t *number = state.file < numbers.size() ? &numbers[state.file] : nullptr;
      if (number != nullptr && *number == kUnknown) *number = number_of(program.file_name(state.file));
      const std::uint64_t line = state.line <= INT_MAX ? state.line : 0;
      rows_.push_back({state.address, number != nullptr ? *number : kUnknown, static_cast<std::uint32_t>(line)});
    } else if (step == Program::Step::kEnd) {
      end_sequence(first, state.address, code);
      first = rows_.size();
      state = {};
    }
  }
}

void LineTable::end_sequence(std::size_t first, std::uint64_t end, const std::vector<AddressRange> &code) {
  const auto begin = rows_.begin() + static_cast<std::ptrdiff_t>(first);
  const bool ascending =
      std::is_sorted(begin, rows_.end(), [](const Row &a, const Row &b) { return a.address < b.address; });
  // Address 0 marks functions that the linker dropped.
  const bool usable = begin != rows_.end() && ascending && begin->address != 0 && rows_.back().address <= end &&
                      holds(code, begin->address);
  if (usable) {
    sequences_.push_back({begin->address, end, first, rows_.size() - first});
  } else {
    rows_.resize(first);
  }
}

std::uint32_t LineTable::number_of(const std::string &file) {
  const auto found = numbers_.emplace(file, static_cast<std::uint32_t>(files_.size()));
  if (found.second) files_.push_back(file);
  return found.first->second;
}

void LineTable::decode(const LineSections &sections, const std::vector<AddressRange> &code) {
  Reader section(sections.line);
  while (!section.at_end()) {
    Program program;
    if (program.read(&section, sections)) run(std::move(program), code);
  }
  std::stable_sort(sequences_.begin(), sequences_.end(),
                   [](const Sequence &a, const Sequence &b) { return a.begin < b.begin; });
}

bool LineTable::find(std::uint64_t address, SourceLine *line) const {
  const auto behind = std::upper_bound(sequences_.begin(), sequences_.end(), address,
                                       [](std::uint64_t value, const Sequence &each) { return value < each.begin; });
  if (behind == sequences_.begin() || address >= (behind - 1)->end) return false;
  const auto begin = rows_.begin() + static_cast<std::ptrdiff_t>((behind - 1)->first);
  const auto end = begin + static_cast<std::ptrdiff_t>((behind - 1)->count);
  auto row =
      std::upper_bound(begin, end, address, [](std::uint64_t value, const Row &each) { return value < each.address; });
  --row;
  // Line 0 stands for code merged from several lines: take the line before it instead.
  while (row != begin && row->line == 0) --row;
  if (row->line == 0 || row->file >= files_.size() || files_[row->file].empty()) return false;
  *line = {files_[row->file], static_cast<int>(row->line)};
  return true;
}

}  // namespace mlusim
