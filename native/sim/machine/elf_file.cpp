#include "machine/elf_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

namespace mlusim {
namespace {

// An open file. It is read, not mapped: access to a mapped file faults if another process truncates
// it.
class File {
 public:
  explicit File(const std::string &path) : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    struct stat status;
    if (descriptor_ >= 0 && fstat(descriptor_, &status) == 0) {
      size_ = static_cast<std::uint64_t>(status.st_size);
    }
  }
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  File(const File &) = delete;
  File &operator=(const File &) = delete;

  bool read(std::uint64_t offset, void *buffer, std::size_t bytes) const {
    if (offset > size_ || bytes > size_ - offset) return false;
    char *to = static_cast<char *>(buffer);
    while (bytes > 0) {
      const ssize_t done = pread(descriptor_, to, bytes, static_cast<off_t>(offset));
      if (done <= 0) return false;
      to += done;
      offset += static_cast<std::uint64_t>(done);
      bytes -= static_cast<std::size_t>(done);
    }
    return true;
  }

  // Reads `count` objects of one type; returns none if they do not all lie in the file.
  template <typename Thing>
  bool read_all(std::uint64_t offset, std::uint64_t count, std::vector<Thing> *things) const {
    if (offset > size_ || count > (size_ - offset) / sizeof(Thing)) return false;
    things->resize(static_cast<std::size_t>(count));
    return read(offset, things->data(), things->size() * sizeof(Thing));
  }

 private:
  int descriptor_;
  std::uint64_t size_ = 0;
};

bool is_ours(const ElfW(Ehdr) & header) {
  constexpr unsigned char kClass = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
  constexpr unsigned char kOrder = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == kClass &&
         header.e_ident[EI_DATA] == kOrder && header.e_phentsize == sizeof(ElfW(Phdr)) &&
         header.e_shentsize == sizeof(ElfW(Shdr));
}

bool is_name(const Bytes &names, std::uint64_t offset, const char *name) {
  const std::size_t size = std::strlen(name) + 1;
  return offset <= names.size() && size <= names.size() - offset && std::memcmp(names.data() + offset, name, size) == 0;
}

}  // namespace

bool read_line_sections(const std::string &path, const ProgramHeaders &loaded, LineSections *sections) {
  const File file(path);
  ElfW(Ehdr) header;
  if (!file.read(0, &header, sizeof header) || !is_ours(header)) return false;
  ProgramHeaders programs;
  if (!file.read_all(header.e_phoff, header.e_phnum, &programs) || programs.size() != loaded.size() ||
      std::memcmp(programs.data(), loaded.data(), programs.size() * sizeof programs[0]) != 0) {
    return false;
  }
  std::vector<ElfW(Shdr)> headers;
  if (!file.read_all(header.e_shoff, header.e_shnum, &headers)) return false;
  Bytes names;
  if (header.e_shstrndx >= headers.size()) return true;
  if (!file.read_all(headers[header.e_shstrndx].sh_offset, headers[header.e_shstrndx].sh_size, &names)) return false;
  for (const ElfW(Shdr) &section : headers) {
    if (section.sh_type == SHT_NOBITS || (section.sh_flags & SHF_COMPRESSED) != 0) continue;
    Bytes *bytes = is_name(names, section.sh_name, ".debug_line")       ? &sections->line
                   : is_name(names, section.sh_name, ".debug_line_str") ? &sections->line_strings
                   : is_name(names, section.sh_name, ".debug_str")      ? &sections->strings
                                                                        : nullptr;
    if (bytes != nullptr && !file.read_all(section.sh_offset, section.sh_size, bytes)) return false;
  }
  return true;
}

}  // namespace mlusim
