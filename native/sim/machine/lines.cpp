#include "machine/lines.h"

#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <map>
#include <mutex>
#include <tuple>

#include "base/fork.h"
#include "machine/elf_file.h"
#include "machine/line_table.h"

namespace mlusim {
namespace {

constexpr const char *kProgram = "/proc/self/exe";

// A loaded library, or the program itself.
struct Library {
  std::string path;
  std::uint64_t base = 0;  // the difference between addresses in memory and in the file
  ProgramHeaders headers;
};

struct Search {
  std::uint64_t address;
  Library *library;  // null: the caller only asks whether one is found
};

int look_into(dl_phdr_info *info, std::size_t, void *argument) {
  const Search &search = *static_cast<Search *>(argument);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) &header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD || search.address - info->dlpi_addr - header.p_vaddr >= header.p_memsz) continue;
    if (search.library == nullptr) return 1;
    // The program itself has no name here. The path that started it may be gone; the link still
    // leads to it.
    const bool named = info->dlpi_name != nullptr && info->dlpi_name[0] != '\0';
    search.library->path = named ? info->dlpi_name : kProgram;
    search.library->base = info->dlpi_addr;
    search.library->headers.assign(info->dlpi_phdr, info->dlpi_phdr + info->dlpi_phnum);
    return 1;
  }
  return 0;
}

bool find_library(const void *address, Library *library) {
  Search search = {reinterpret_cast<std::uintptr_t>(address), library};
  return dl_iterate_phdr(look_into, &search) != 0;
}

// Distinguishes a file from another one of the same name, and from itself after a change.
struct FileIdentity {
  explicit FileIdentity(const std::string &path) {
    struct stat status;
    if (stat(path.c_str(), &status) != 0) return;
    device = status.st_dev;
    number = status.st_ino;
    size = status.st_size;
    seconds = status.st_mtim.tv_sec;
    nanoseconds = status.st_mtim.tv_nsec;
  }
  bool operator<(const FileIdentity &other) const { return all() < other.all(); }

 private:
  std::tuple<dev_t, ino_t, off_t, time_t, long> all() const { return {device, number, size, seconds, nanoseconds}; }

  dev_t device = 0;
  ino_t number = 0;
  off_t size = -1;
  time_t seconds = 0;
  long nanoseconds = 0;
};

// Line tables by library, each decoded at its first use; a table is empty if the file has no lines.
struct Tables {
  ForkMutex mutex;
  std::map<FileIdentity, LineTable> by_file;
};

Tables &tables() {
  static Tables *const instance = new Tables;  // threads may look up lines until the process ends
  return *instance;
}

std::vector<AddressRange> code_of(const Library &library) {
  std::vector<AddressRange> code;
  for (const ElfW(Phdr) &header : library.headers) {
    if (header.p_type == PT_LOAD && (header.p_flags & PF_X) != 0) {
      code.push_back({header.p_vaddr, header.p_vaddr + header.p_memsz});
    }
  }
  return code;
}

// Returns null if the file is not the one that was loaded.
const LineTable *table_of(const Library &library, Tables *all) {
  const FileIdentity identity(library.path);
  const auto known = all->by_file.find(identity);
  if (known != all->by_file.end()) return &known->second;
  LineSections sections;
  if (!read_line_sections(library.path, library.headers, &sections)) return nullptr;
  LineTable &table = all->by_file[identity];
  table.decode(sections, code_of(library));
  return &table;
}

}  // namespace

bool find_line(const void *pc, SourceLine *line) {
  if (pc == nullptr) return false;
  const void *address = static_cast<const char *>(pc) - 1;
  Library library;
  if (!find_library(address, &library)) return false;
  Tables &all = tables();
  const std::lock_guard<ForkMutex> lock(all.mutex);
  const LineTable *table = table_of(library, &all);
  return table != nullptr && table->find(reinterpret_cast<std::uintptr_t>(address) - library.base, line);
}

bool in_loaded_library(const void *address, std::string *name) {
  if (name == nullptr) return find_library(address, nullptr);
  Library library;
  if (!find_library(address, &library)) return false;
  *name = library.path;
  char program[PATH_MAX];
  if (library.path == kProgram) {
    const ssize_t length = readlink(kProgram, program, sizeof program);
    if (length > 0) name->assign(program, static_cast<std::size_t>(length));
  }
  return true;
}

bool same_library(const void *a, const void *b) {
  Library first, second;
  return a != nullptr && b != nullptr && find_library(a, &first) && find_library(b, &second) &&
         first.base == second.base;
}

}  // namespace mlusim
