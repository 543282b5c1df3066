// Lines of addresses in this program itself, and files that are damaged.
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
#include "line_tables.h"
#include "machine/elf_file.h"
#include "machine/line_table.h"

using namespace line_tables;

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

// ---- Damaged files ----

TEST(the_sections_of_this_program_damaged) {
  const Bytes program = contents("/proc/self/exe");
  LineSections sections;
  CHECK(mlusim::read_line_sections("/proc/self/exe", headers_of(program), &sections));
  CHECK(!sections.line.empty());
  std::mt19937 random(3);
  const std::vector<AddressRange> everything = {{0, UINT64_MAX}};
  for (int round = 0; round < 64; ++round) {
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
  for (int round = 0; round < 40; ++round) {
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
