// The switches for records of test cases. They can be set and read; no operator writes records.
#include <pthread.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include "core/check.h"
#include "core/environment.h"
#include "core/exception_guard.h"
#include "core/gen_case.h"
#include "core/target.h"

namespace mluops {
namespace {

constexpr int kMostMode = 3;

class GenCase {
 public:
  // Never destroyed, for calls during the end of the process. A fork waits until no thread is
  // inside.
  static GenCase &instance() {
    alignas(GenCase) static unsigned char memory[sizeof(GenCase)];
    static GenCase *made = [] {
      auto *value = new (memory) GenCase();
      pthread_atfork([] { instance().mutex_.lock(); }, [] { instance().mutex_.unlock(); },
                     [] { instance().mutex_.unlock(); });
      return value;
    }();
    return *made;
  }

  int mode() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return mode_;
  }
  void set_mode(int mode) {
    std::lock_guard<std::mutex> lock(mutex_);
    mode_ = mode >= 0 && mode <= kMostMode ? mode : 0;
  }
  std::string directory() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return directory_;
  }
  void set_directory(std::string directory) {
    std::lock_guard<std::mutex> lock(mutex_);
    directory_.swap(directory);
  }

 private:
  GenCase() {
    std::int64_t mode = 0;
    NumberVariable{"MLUOP_GEN_CASE", 0, kMostMode}.read(&mode);
    mode_ = static_cast<int>(mode);
    const char *directory = std::getenv("MLUOP_GEN_CASE_DIR");
    try {
      if (directory != nullptr) directory_ = directory;
    } catch (const std::bad_alloc &) {  // no reason to end the process that loads the library
    }
  }

  mutable std::mutex mutex_;
  int mode_ = 0;
  std::string directory_;
};

// Made when the library is loaded: a child forked during a lazy creation would wait forever.
const GenCase &g_at_load = GenCase::instance();

// Replaces the first occurrence.
void replace(std::string *text, const char *old, const std::string &with) {
  const std::size_t at = text->find(old);
  if (at != std::string::npos) text->replace(at, std::strlen(old), with);
}

std::string working_directory() {
  char *path = ::getcwd(nullptr, 0);
  const std::string text = path == nullptr ? "" : path;
  std::free(path);
  return text;
}

struct FoundDirectory {
  const char *path = nullptr;
  std::size_t length = 0;
};

mluOpStatus_t get_directory(const char *function, char *buffer, std::size_t size, FoundDirectory *found) {
  const std::string path = gen_case_directory();
  if (path.empty()) return fail(MLUOP_STATUS_INTERNAL_ERROR, function, "the working directory cannot be read");
  if (buffer != nullptr && path.size() >= size) {
    found->path = buffer;
    return refuse(MLUOP_STATUS_BAD_PARAM, function, "bufferSize", Text::format("at least %zu", path.size() + 1),
                  Text::format("%zu", size));
  }
  char *to = buffer != nullptr ? buffer : static_cast<char *>(std::malloc(path.size() + 1));
  if (to == nullptr) return out_of_memory(function);
  std::memcpy(to, path.c_str(), path.size() + 1);
  *found = {to, path.size()};
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

int gen_case_mode() { return GenCase::instance().mode(); }

std::string gen_case_directory() {
  std::string path = GenCase::instance().directory();
  if (path.empty()) return working_directory();
  replace(&path, "{pid}", "pid" + std::to_string(::getpid()));
  replace(&path, "{deviceid}", "deviceid" + std::to_string(current_device()));
  return path;
}

}  // namespace mluops

void MLUOP_WIN_API mluOpSetGenCaseMode(int mode) {
  mluops::guarded(__func__, [&] {
    mluops::GenCase::instance().set_mode(mode);
    return MLUOP_STATUS_SUCCESS;
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpSetGenCaseDirectory(const char *path) {
  constexpr const char *kFunction = "mluOpSetGenCaseDirectory";
  return mluops::guarded(kFunction, [&] {
    MLUOPS_TRY(mluops::need_pointer(kFunction, "path", path));
    mluops::GenCase::instance().set_directory(path);
    return MLUOP_STATUS_SUCCESS;
  });
}

const char *MLUOP_WIN_API mluOpGetGenCaseDirectory(char *buffer, size_t bufferSize, size_t *pathLen,
                                                   mluOpStatus_t *status) {
  constexpr const char *kFunction = "mluOpGetGenCaseDirectory";
  mluops::FoundDirectory found;
  const mluOpStatus_t result =
      mluops::guarded(kFunction, [&] { return mluops::get_directory(kFunction, buffer, bufferSize, &found); });
  if (pathLen != nullptr) *pathLen = found.length;
  if (status != nullptr) *status = result;
  return found.path;
}
