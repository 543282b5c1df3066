// Lines of addresses: of this program itself, of tables written by hand, and of tables and files that make no sense.
#include "machine/lines.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <thread>

#include "harness.h"
#include "machine/elf_file.h"
#include "machine/line_table.h"

using mlusim::AddressRange;
using mlusim::Bytes;
using mlusim::LineSections;
using mlusim::LineTable;
using mlusim::SourceLine;

namespace {

// ---- Places in this program ----

__attribute__((noinline)) const void *here() {
  __asm__ volatile("");  // or calls with equal results are merged
  return __builtin_return_address(0);
}

// Something to do after the call, which would be a jump otherwise.
inline const void *kept(const void *place) {
  __asm__ volatile("" : "+r"(place));
  return place;
}

int g_calls = 0;

std::string text_of(const void *pc) {
  SourceLine line;
  if (!mlusim::find_line(pc, &line)) return "nothing";
  return line.file.substr(line.file.rfind('/') + 1) + ":" + std::to_string(line.line);
}

std::string this_file(int line) { return "lines_test.cpp:" + std::to_string(line); }

constexpr int kInlinedLine = __LINE__ + 1;
__attribute__((always_inline)) inline const void *inlined() { return here(); }

template <int N>
struct InTemplate {
  static constexpr int kLine = __LINE__ + 1;
  __attribute__((noinline)) static const void *place() { return kept(N > 0 ? here() : nullptr); }
};

// At the end of this file, where the lines are said to be of others.
const void *relative_name();
const void *absolute_name();

// ---- Tables by hand ----

struct Writer {
  Bytes bytes;

  Writer &number(std::uint64_t value, int size) {
    for (int i = 0; i < size; ++i) bytes.push_back(static_cast<unsigned char>(value >> (8 * i)));
    return *this;
  }
  Writer &byte(std::uint64_t value) { return number(value, 1); }
  Writer &string(const char *text) {
    bytes.insert(bytes.end(), text, text + std::strlen(text) + 1);
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

int special(int address, int line) { return kOpcodeBase + address * kLineRange + line - kLineBase; }

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

Writer strings_of(const Texts &texts, std::size_t count) {
  Writer writer;
  for (std::size_t i = 0; i < count; ++i) writer.string(texts[i]);
  return writer;
}

std::uint64_t begin_of(const Texts &texts, std::size_t index) { return strings_of(texts, index).bytes.size(); }

Writer lists_of(const Layout &layout) {
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

Writer unit(const Layout &layout, const Writer &code) {
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

LineSections sections_with(const Writer &line) {
  return {line.bytes, strings_of(kDirectories, kDirectories.size()).bytes, strings_of(kFiles, kFiles.size()).bytes};
}

const std::vector<AddressRange> kCode = {{0x1000, 0x2000}, {0x8000, 0x9000}};

LineTable table_of(const Writer &line) {
  LineTable table;
  table.decode(sections_with(line), kCode);
  return table;
}

std::string line_at(const LineTable &table, std::uint64_t address) {
  SourceLine line;
  return table.find(address, &line) ? line.file + ":" + std::to_string(line.line) : "nothing";
}

// Looks for every address that a table could have; whatever it says, it must not crash.
void look_everywhere(const LineTable &table) {
  SourceLine line;
  for (std::uint64_t address = 0; address < 0x2100; address += 7) {
    if (table.find(address, &line)) CHECK(!line.file.empty() && line.line > 0);
  }
  for (const std::uint64_t address : {UINT64_MAX, std::uint64_t{1} << 63, std::uint64_t{0x8000}}) {
    table.find(address, &line);
  }
}

// ---- Files ----

mlusim::ProgramHeaders headers_of(const Bytes &file) {
  ElfW(Ehdr) header;
  std::memcpy(&header, file.data(), sizeof header);
  mlusim::ProgramHeaders headers(header.e_phnum);
  std::memcpy(headers.data(), file.data() + header.e_phoff, headers.size() * sizeof headers[0]);
  return headers;
}

Bytes contents(const char *path) {
  std::ifstream file(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

// A file that is gone at the end.
class TemporaryFile {
 public:
  TemporaryFile() : descriptor_(mkstemp(path_)) { CHECK(descriptor_ >= 0); }
  ~TemporaryFile() {
    close(descriptor_);
    unlink(path_);
  }
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;

  void write(const Bytes &bytes) {
    CHECK_EQ(ftruncate(descriptor_, 0), 0);
    CHECK_EQ(pwrite(descriptor_, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }
  const char *path() const { return path_; }

 private:
  char path_[32] = "/tmp/lines_test.XXXXXX";
  int descriptor_;
};

}  // namespace

// ---- This program ----

TEST(a_call_has_its_line) {
  const void *const place = here();
  CHECK_EQ(text_of(place), this_file(__LINE__ - 1));
}

TEST(an_inlined_call_has_the_line_where_it_is_written) {
  const void *const place = inlined();
  CHECK_EQ(text_of(place), this_file(kInlinedLine));
}

TEST(a_call_in_a_template_has_its_line) {
  CHECK_EQ(text_of(InTemplate<1>::place()), this_file(InTemplate<1>::kLine));
  CHECK_EQ(text_of(InTemplate<2>::place()), this_file(InTemplate<2>::kLine));
}

TEST(files_are_named_as_the_compiler_was_told) {
  SourceLine line;
  CHECK(mlusim::find_line(relative_name(), &line));
  CHECK_EQ(line.file, "made/up.mlu");
  CHECK_EQ(line.line, 77);
  CHECK(mlusim::find_line(absolute_name(), &line));
  CHECK_EQ(line.file, "/made/up/absolute.mlu");
  CHECK_EQ(line.line, 5);
}

TEST(the_line_is_that_of_the_instruction_before) {
  const char *const begin = reinterpret_cast<const char *>(&relative_name);
  CHECK_EQ(text_of(begin + 1), "up.mlu:77");
  CHECK(text_of(begin) != "up.mlu:77");
}

TEST(what_is_no_code_has_no_line) {
  static int variable = 1;
  int automatic = 2;
  const std::vector<int> heap(100);
  void *page = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (const void *address : {static_cast<const void *>(&variable), static_cast<const void *>(&automatic),
                              static_cast<const void *>(heap.data()), static_cast<const void *>(page),
                              static_cast<const void *>(nullptr), reinterpret_cast<const void *>(UINTPTR_MAX)}) {
    CHECK_EQ(text_of(address), "nothing");
  }
  munmap(page, 4096);
}

TEST(threads_may_look_at_once) {
  const void *const place = here();
  const std::string wanted = this_file(__LINE__ - 1);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) CHECK_EQ(text_of(place), wanted);
    });
  }
  for (std::thread &thread : threads) thread.join();
}

TEST(libraries_know_their_addresses) {
  static int variable = 1;
  static const char constant[] = "constant";
  int automatic = 2;
  const std::vector<int> heap(100);
  std::string name, program(4096, '\0');
  program.resize(static_cast<std::size_t>(readlink("/proc/self/exe", &program[0], program.size())));
  for (const void *address : {static_cast<const void *>(&variable), static_cast<const void *>(constant), here()}) {
    name.clear();
    CHECK(mlusim::in_loaded_library(address, &name));
    CHECK_EQ(name, program);
    CHECK(mlusim::in_loaded_library(address, nullptr));
  }
  CHECK(mlusim::in_loaded_library(reinterpret_cast<const void *>(&std::fclose), &name));
  CHECK(mlusim::in_loaded_library(static_cast<const void *>(stderr), &name));  // the C library's own stream
  CHECK(name != program);
  for (const void *address : {static_cast<const void *>(&automatic), static_cast<const void *>(heap.data()),
                              static_cast<const void *>(nullptr)}) {
    CHECK(!mlusim::in_loaded_library(address, &name));
    CHECK(!mlusim::in_loaded_library(address, nullptr));
  }
}

// ---- Tables by hand ----

TEST(every_version_gives_the_same_lines) {
  Writer code;
  code.address(0x1000).line(9).row();                    // a.mlu:10 at 0x1000
  code.byte(static_cast<std::uint64_t>(special(4, 2)));  // :12 at 0x1004
  code.file(2).advance(8).line(-4).row();                // sub/b.mlu:8 at 0x100c
  code.byte(8).file(3).row();                            // const_add_pc: 22 on, /abs/c.mlu:8 at 0x1022
  code.byte(9).number(0x1e, 2).file(4).row();            // fixed_advance_pc: /whole/d.mlu:8 at 0x1040
  code.byte(5).byte(3).byte(6).byte(7).byte(10).byte(11).byte(12).byte(1);       // column, statement and so on
  code.byte(0).byte(2).byte(4).byte(1).byte(0).byte(4).byte(0x80).number(0, 3);  // discriminator, a vendor's
  code.advance(16).end();                                                        // to 0x1050
  for (int version = 2; version <= 5; ++version) {
    for (const bool wide : {false, true}) {
      const LineTable table = table_of(unit({version, wide, 1}, code));
      CHECK_EQ(line_at(table, 0xfff), "nothing");
      CHECK_EQ(line_at(table, 0x1000), "a.mlu:10");
      CHECK_EQ(line_at(table, 0x1003), "a.mlu:10");
      CHECK_EQ(line_at(table, 0x1004), "a.mlu:12");
      CHECK_EQ(line_at(table, 0x100c), "sub/b.mlu:8");
      CHECK_EQ(line_at(table, 0x1021), "sub/b.mlu:8");
      CHECK_EQ(line_at(table, 0x1022), "/abs/c.mlu:8");
      CHECK_EQ(line_at(table, 0x103f), "/abs/c.mlu:8");
      CHECK_EQ(line_at(table, 0x104f), "/whole/d.mlu:8");
      CHECK_EQ(line_at(table, 0x1050), "nothing");
    }
  }
}

TEST(instructions_of_four_bytes) {
  Writer code;
  code.address(0x1000).row().byte(static_cast<std::uint64_t>(special(2, 1))).advance(3).row();
  code.byte(9).number(4, 2).line(1).row().advance(1).end();  // fixed_advance_pc counts bytes
  const LineTable table = table_of(unit({4, false, 4}, code));
  CHECK_EQ(line_at(table, 0x1007), "a.mlu:1");
  CHECK_EQ(line_at(table, 0x1008), "a.mlu:2");
  CHECK_EQ(line_at(table, 0x1017), "a.mlu:2");
  CHECK_EQ(line_at(table, 0x1018), "a.mlu:3");
  CHECK_EQ(line_at(table, 0x101b), "a.mlu:3");
  CHECK_EQ(line_at(table, 0x101c), "nothing");
}

TEST(sequences_and_units_in_any_order) {
  Writer first, second;
  first.address(0x8100).line(9).row().advance(8).end().address(0x1100).line(19).row().advance(8).end();
  second.address(0x1000).line(29).row().advance(8).end();
  const LineTable table = table_of(unit({4, false, 1}, first).all(unit({5, false, 1}, second)));
  CHECK_EQ(line_at(table, 0x8104), "a.mlu:10");
  CHECK_EQ(line_at(table, 0x1107), "a.mlu:20");
  CHECK_EQ(line_at(table, 0x1000), "a.mlu:30");
  CHECK_EQ(line_at(table, 0x1008), "nothing");
}

TEST(of_rows_at_one_address_the_last_counts) {
  Writer code;
  code.address(0x1000).row().line(4).row().advance(4).end();
  CHECK_EQ(line_at(table_of(unit({}, code)), 0x1000), "a.mlu:5");
}

TEST(line_zero_is_the_line_before) {
  Writer code;
  code.address(0x1000).line(-1).row().advance(4).line(7).row().advance(4).line(-7).row().advance(4).end();
  const LineTable table = table_of(unit({}, code));
  CHECK_EQ(line_at(table, 0x1000), "nothing");
  CHECK_EQ(line_at(table, 0x1004), "a.mlu:7");
  CHECK_EQ(line_at(table, 0x1008), "a.mlu:7");
}

TEST(dropped_functions_hide_nothing) {
  Writer code;
  code.row().advance(127).end();                           // at 0
  code.address(0x3000).row().advance(8).end();             // outside of the code
  code.address(0x1010).row().address(0x1008).row().end();  // not ascending
  code.address(0x1020).row().address(0x1018).end();        // ends before it begins
  code.address(0x1000).line(2).row().advance(64).end();
  code.address(0x1050).row();  // without an end
  const LineTable table = table_of(unit({}, code));
  for (const unsigned address : {0x0u, 0x10u, 0x3000u, 0x1050u}) CHECK_EQ(line_at(table, address), "nothing");
  for (const unsigned address : {0x1000u, 0x1008u, 0x1010u, 0x103fu}) CHECK_EQ(line_at(table, address), "a.mlu:3");
}

TEST(dropped_functions_hide_nothing_in_code_from_address_0_on) {
  Writer code;
  code.line(9).row().advance(127).end();
  code.address(0x10).row().advance(8).end();
  LineTable table;
  table.decode(sections_with(unit({}, code)), {{0, 0x1000}});
  CHECK_EQ(line_at(table, 0x8), "nothing");
  CHECK_EQ(line_at(table, 0x10), "a.mlu:1");
}

TEST(unknown_files_have_no_lines) {
  Writer code;
  code.address(0x1000).file(9).row().advance(4).file(0).row().advance(4).end();
  CHECK_EQ(line_at(table_of(unit({4, false, 1}, code)), 0x1000), "nothing");
  CHECK_EQ(line_at(table_of(unit({4, false, 1}, code)), 0x1004), "nothing");
  CHECK_EQ(line_at(table_of(unit({5, false, 1}, code)), 0x1004), "a.mlu:1");  // counted from 0 there
}

TEST(a_unit_that_cannot_be_read_is_left_out) {
  Writer good, bad;
  good.address(0x1000).row().advance(8).end();
  bad.address(0x1000).line(9).row().advance(8).end();
  for (const int version : {0, 1, 6, 0xffff}) {
    const Writer damaged = unit({version, false, 1}, bad);
    Writer before = damaged;
    CHECK_EQ(line_at(table_of(before.all(unit({4, false, 1}, good))), 0x1000), "a.mlu:1");
    CHECK_EQ(line_at(table_of(unit({4, false, 1}, good).all(damaged)), 0x1000), "a.mlu:1");
  }
}

// ---- What makes no sense ----

TEST(a_list_of_countless_nothings) {
  Writer header;
  header.byte(1).byte(1).byte(1).byte(0).byte(1).byte(1).byte(0);  // no kinds of values
  for (int i = 0; i < 9; ++i) header.byte(0xff);
  header.byte(0x01);  // but 2^64 - 1 directories
  Writer body, whole;
  body.number(5, 2).byte(8).byte(0).number(header.bytes.size(), 4).all(header);
  look_everywhere(table_of(whole.number(body.bytes.size(), 4).all(body)));
}

TEST(tables_that_end_anywhere) {
  Writer code;
  code.address(0x1000).line(9).row().byte(static_cast<std::uint64_t>(special(4, 2))).file(2).advance(8).row().end();
  for (const int version : {2, 4, 5}) {
    const Bytes whole = unit({version, version == 5, 1}, code).bytes;
    for (std::size_t size = 0; size < whole.size(); ++size) {
      Writer cut;
      cut.bytes.assign(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      look_everywhere(table_of(cut));
    }
  }
}

TEST(tables_with_any_byte_changed) {
  Writer code;
  code.address(0x1000).line(9).row().byte(static_cast<std::uint64_t>(special(4, 2))).file(2).advance(8).row().end();
  std::mt19937 random(1);
  for (const int version : {3, 4, 5}) {
    const Writer whole = unit({version, false, 1}, code).all(unit({version, false, 1}, code));
    for (std::size_t at = 0; at < whole.bytes.size(); ++at) {
      for (const unsigned value : {0u, 1u, 0x7fu, 0x80u, 0xffu, static_cast<unsigned>(random())}) {
        Writer changed = whole;
        changed.bytes[at] = static_cast<unsigned char>(value);
        look_everywhere(table_of(changed));
      }
    }
  }
}

TEST(tables_of_random_bytes) {
  std::mt19937 random(2);
  for (int round = 0; round < 2000; ++round) {
    Writer noise;
    for (std::size_t i = 0; i < 8 + random() % 200; ++i) noise.byte(random());
    look_everywhere(table_of(unit({2 + round % 4, round % 8 >= 4, 1}, noise)));
    noise.bytes[4] = static_cast<unsigned char>(2 + round % 4);
    look_everywhere(table_of(noise));
  }
}

TEST(the_sections_of_this_program_damaged) {
  const Bytes program = contents("/proc/self/exe");
  LineSections sections;
  CHECK(mlusim::read_line_sections("/proc/self/exe", headers_of(program), &sections));
  CHECK(!sections.line.empty());
  std::mt19937 random(3);
  const std::vector<AddressRange> everything = {{0, UINT64_MAX}};
  for (int round = 0; round < 200; ++round) {
    LineSections damaged = sections;
    for (unsigned change = 0; change < 1u << round % 8; ++change) {
      damaged.line[random() % damaged.line.size()] = static_cast<unsigned char>(random());
    }
    damaged.strings.resize(damaged.strings.size() / 2);
    damaged.line_strings.resize(damaged.line_strings.size() / 2);
    LineTable table;
    table.decode(damaged, everything);
    look_everywhere(table);
  }
}

TEST(files_that_are_no_libraries) {
  const mlusim::ProgramHeaders headers = headers_of(contents("/proc/self/exe"));
  LineSections sections;
  for (const char *path : {"", "/", "/dev/zero", "/does/not/exist", "/proc/self/status", "linux-vdso.so.1"}) {
    CHECK(!mlusim::read_line_sections(path, headers, &sections));
  }
}

TEST(a_file_with_other_program_headers_is_refused) {
  const mlusim::ProgramHeaders headers = headers_of(contents("/proc/self/exe"));
  mlusim::ProgramHeaders other = headers, fewer = headers, more = headers;
  other.back().p_vaddr ^= 16;
  fewer.pop_back();
  more.push_back(headers[0]);
  LineSections sections;
  for (const mlusim::ProgramHeaders &wrong : {other, fewer, more}) {
    CHECK(!mlusim::read_line_sections("/proc/self/exe", wrong, &sections));
  }
}

TEST(section_names_that_are_none) {
  const Bytes program = contents("/proc/self/exe");
  const mlusim::ProgramHeaders headers = headers_of(program);
  ElfW(Ehdr) header;
  std::memcpy(&header, program.data(), sizeof header);
  std::vector<ElfW(Shdr)> sections(header.e_shnum);
  const std::size_t table_bytes = sections.size() * sizeof sections[0];
  std::memcpy(sections.data(), program.data() + header.e_shoff, table_bytes);
  const std::uint32_t end = static_cast<std::uint32_t>(sections[header.e_shstrndx].sh_size);
  TemporaryFile file;
  for (const std::uint32_t name : {end - 5, end - 1, end, end + 1, UINT32_MAX}) {
    for (ElfW(Shdr) &section : sections) section.sh_name = name;
    Bytes damaged = program;
    std::memcpy(damaged.data() + header.e_shoff, sections.data(), table_bytes);
    file.write(damaged);
    LineSections found;
    CHECK(mlusim::read_line_sections(file.path(), headers, &found));
    CHECK(found.line.empty() && found.line_strings.empty() && found.strings.empty());
  }
  header.e_shstrndx = 0xff00;
  Bytes damaged = program;
  std::memcpy(damaged.data(), &header, sizeof header);
  file.write(damaged);
  LineSections found;
  CHECK(mlusim::read_line_sections(file.path(), headers, &found));
  CHECK(found.line.empty());
}

TEST(library_files_damaged) {
  const Bytes program = contents("/proc/self/exe");
  const mlusim::ProgramHeaders headers = headers_of(program);
  ElfW(Ehdr) header;
  std::memcpy(&header, program.data(), sizeof header);
  TemporaryFile file;
  LineSections sections;
  for (const std::size_t size : {std::size_t{0}, std::size_t{3}, sizeof header - 1, sizeof header + 1,
                                 static_cast<std::size_t>(header.e_shoff) + 1}) {
    file.write(Bytes(program.begin(), program.begin() + static_cast<std::ptrdiff_t>(size)));
    CHECK(!mlusim::read_line_sections(file.path(), headers, &sections));
  }
  std::mt19937 random(4);
  const std::size_t table_bytes = header.e_shnum * sizeof(ElfW(Shdr));
  for (int round = 0; round < 100; ++round) {
    Bytes damaged = program;
    for (int change = 0; change < 20; ++change) {
      const std::size_t at = round % 4 == 0 ? random() % sizeof header : header.e_shoff + random() % table_bytes;
      damaged[at] = static_cast<unsigned char>(random());
    }
    file.write(damaged);
    LineSections read;
    if (mlusim::read_line_sections(file.path(), headers, &read)) CHECK(read.line.size() <= program.size());
  }
}

int main(int count, char **arguments) { return harness::run_all(count, arguments); }

namespace {

// They differ in more than their lines, or they would become one function.
#line 77 "made/up.mlu"
__attribute__((noinline)) const void *relative_name() { return kept(here()); }
#line 5 "/made/up/absolute.mlu"
__attribute__((noinline)) const void *absolute_name() { return kept(++g_calls > 0 ? here() : nullptr); }

}  // namespace
