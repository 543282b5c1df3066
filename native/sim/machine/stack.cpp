#include "machine/stack.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>

#include <cstdint>

#include "machine/fiber.h"

namespace mlusim {
namespace {

constexpr std::size_t kRoomStep = std::size_t{64} << 10;
// The most room for one core. A library function on its way back to the kernel hardly needs more.
constexpr std::size_t kMostRoom = std::size_t{64} << 20;

constexpr int kMostRuntimes = 8;
Range g_runtimes[kMostRuntimes];
int g_runtime_count = 0;

// One function in each runtime library: the C library, its threads and loader if they are separate,
// the library of malloc, the unwinder, and the C++ library.
constexpr int kMarks = 6;
struct Marks {
  const void *of[kMarks];
};

const void *find_in(const char *library, const char *function) {
  void *const loaded = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  return loaded != nullptr ? dlsym(loaded, function) : nullptr;
}

Marks find_marks() {
  return {{dlsym(RTLD_DEFAULT, "fopen"), dlsym(RTLD_DEFAULT, "pthread_mutex_lock"),
           dlsym(RTLD_DEFAULT, "__tls_get_addr"), dlsym(RTLD_DEFAULT, "malloc"),
           find_in("libgcc_s.so.1", "_Unwind_RaiseException"), find_in("libstdc++.so.6", "__cxa_begin_catch")}};
}

int add_runtimes(struct dl_phdr_info *library, std::size_t, void *given) {
  const auto &marks = *static_cast<const Marks *>(given);
  for (int i = 0; i < library->dlpi_phnum && g_runtime_count < kMostRuntimes; ++i) {
    const ElfW(Phdr) &segment = library->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    char *const begin = reinterpret_cast<char *>(library->dlpi_addr + segment.p_vaddr);
    const Range code = {begin, begin + segment.p_memsz};
    for (const void *mark : marks.of) {
      if (mark == nullptr || !code.holds(mark)) continue;
      g_runtimes[g_runtime_count++] = code;
      break;
    }
  }
  return 0;
}

}  // namespace

void find_runtimes() {
  if (g_runtime_count != 0) return;
  Marks marks = find_marks();
  dl_iterate_phdr(add_runtimes, &marks);
}

bool in_runtime(const void *pc) {
  for (int i = 0; i < g_runtime_count; ++i) {
    if (g_runtimes[i].holds(pc)) return true;
  }
  return false;
}

bool open_room(Core &core, const void *address) {
  char *const end = core.room != nullptr ? core.room : core.stack.begin;
  const std::uintptr_t place = reinterpret_cast<std::uintptr_t>(address);
  char *const begin = reinterpret_cast<char *>(place / kRoomStep * kRoomStep);
  if (begin >= end || begin < core.stack.begin - kMostRoom) return false;
  if (mprotect(begin, static_cast<std::size_t>(end - begin), PROT_READ | PROT_WRITE) != 0) return false;
  core.room = begin;
  core.stack_limit = core.stack.end;  // so that the next function of the simulator ends the launch
  ask_for_stack_check(true);
  return true;
}

void close_room(Core &core) {
  core.stack_limit = core.stack.begin + kStackReserve;
  if (core.room == nullptr) return;
  const std::size_t bytes = static_cast<std::size_t>(core.stack.begin - core.room);
  madvise(core.room, bytes, MADV_DONTNEED);
  mprotect(core.room, bytes, PROT_NONE);
  core.room = nullptr;
  ask_for_stack_check(false);
}

}  // namespace mlusim
