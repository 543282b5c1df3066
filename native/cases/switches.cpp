#include "cases/switches.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include "core/check.h"
#include "core/environment.h"
#include "core/exception_guard.h"
#include "core/target.h"
#include "mluops_ext/library.h"

namespace mluops {
namespace {

// Names of MLUOP_GEN_CASE_OP_NAME: `a` is on, `-a` is off, `+a` is in mode 2. Unnamed operators are
// on if any name has a sign, or if there are no names.
class Selection {
 public:
  Selection() = default;
  explicit Selection(const char *text) : text_(text == nullptr ? "" : text) {
    for (std::size_t at = 0; at < text_.size(); at = end_of(at) + 1) signs_ |= text_[at] == '-' || text_[at] == '+';
  }

  CaseMode mode(const std::string &name, CaseMode usual) const {
    if (text_.empty()) return usual;
    CaseMode found = signs_ ? usual : kCasesOff;
    for (std::size_t at = 0; at < text_.size(); at = end_of(at) + 1) {
      const std::string word = text_.substr(at, end_of(at) - at);
      if (word == name) found = usual;
      if (word == "-" + name) found = kCasesOff;
      if (word == "+" + name) found = kCaseData;
    }
    return found;
  }

 private:
  std::size_t end_of(std::size_t start) const { return std::min(text_.find(';', start), text_.size()); }

  std::string text_;
  bool signs_ = false;
};

CaseDump dump_of(std::int64_t number) {
  if (number == 0) return CaseDump::kReal;
  return number == 2 ? CaseDump::kHexadecimal : CaseDump::kDecimal;
}

class Switches {
 public:
  // Never destroyed, for calls during the end of the process. A fork waits until no thread is
  // inside.
  static Switches &instance() {
    alignas(Switches) static unsigned char memory[sizeof(Switches)];
    static Switches *made = [] {
      auto *value = new (memory) Switches();
      pthread_atfork([] { instance().mutex_.lock(); }, [] { instance().mutex_.unlock(); },
                     [] { instance().mutex_.unlock(); });
      return value;
    }();
    return *made;
  }

  CaseMode mode_of(const char *name) const {
    const int mode = current_case_mode.load(std::memory_order_relaxed);
    return mode == kCasesOff ? kCasesOff : selection_.mode(name, static_cast<CaseMode>(mode));
  }
  static void set_mode(int mode) {
    current_case_mode.store(mode >= kCasesOff && mode <= kCasePrint ? mode : kCasesOff, std::memory_order_relaxed);
  }
  std::string directory() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return directory_;
  }
  void set_directory(std::string directory) {
    std::lock_guard<std::mutex> lock(mutex_);
    directory_.swap(directory);
  }

  std::atomic<CaseDump> dump{CaseDump::kReal};
  std::atomic<bool> in_files{false};
  std::atomic<bool> outputs{false};

 private:
  Switches() {
    try {
      selection_ = Selection(std::getenv("MLUOP_GEN_CASE_OP_NAME"));
      const char *directory = std::getenv("MLUOP_GEN_CASE_DIR");
      if (directory != nullptr) directory_ = directory;
    } catch (const std::bad_alloc &) {  // no reason to end the process that loads the library
    }
    set_mode(static_cast<int>(number("MLUOP_GEN_CASE")));
    dump = dump_of(number("MLUOP_GEN_CASE_DUMP_DATA"));
    in_files = number("MLUOP_GEN_CASE_DUMP_DATA_FILE") == 1;
    outputs = number("MLUOP_GEN_CASE_DUMP_DATA_OUTPUT") != 0;
  }

  static std::int64_t number(const char *name) {
    const char *text = std::getenv(name);
    std::int64_t value = 0;
    if (!NumberVariable{name, 0, INT32_MAX}.read(&value) && text != nullptr && text[0] != '\0')
      std::fprintf(stderr, "mluops: %s: expected a whole number, got '%s'; it counts as 0\n", name,
                   NumberVariable::shown(text).c_str());
    return value;
  }

  mutable std::mutex mutex_;
  Selection selection_;
  std::string directory_;
};

// Made when the library is loaded: a child forked during a lazy creation would wait forever.
const Switches &g_at_load = Switches::instance();

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
  const std::string path = case_directory();
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

std::atomic<int> current_case_mode{kCasesOff};

CaseMode case_mode_of(const char *operator_name) { return Switches::instance().mode_of(operator_name); }

CaseDump case_dump() { return Switches::instance().dump; }

bool case_data_in_files() { return Switches::instance().in_files; }

bool case_outputs_wanted() { return Switches::instance().outputs; }

std::string case_directory() {
  std::string path = Switches::instance().directory();
  if (path.empty()) return working_directory();
  replace(&path, "{pid}", "pid" + std::to_string(::getpid()));
  replace(&path, "{deviceid}", "deviceid" + std::to_string(current_device()));
  return path;
}

}  // namespace mluops

void MLUOP_WIN_API mluOpSetGenCaseMode(int mode) {
  mluops::guarded(__func__, [&] {
    mluops::Switches::instance().set_mode(mode);
    return MLUOP_STATUS_SUCCESS;
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpSetGenCaseDirectory(const char *path) {
  constexpr const char *kFunction = "mluOpSetGenCaseDirectory";
  return mluops::guarded(kFunction, [&] {
    MLUOPS_TRY(mluops::need_pointer(kFunction, "path", path));
    mluops::Switches::instance().set_directory(path);
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

mluOpStatus_t MLUOP_WIN_API mluopsExtSetGenCaseSwitches(int mode, int data, int in_files, int outputs) {
  constexpr const char *kFunction = "mluopsExtSetGenCaseSwitches";
  return mluops::guarded(kFunction, [&] {
    MLUOPS_TRY(mluops::need_between(kFunction, "mode", mode, mluops::kCasesOff, mluops::kCasePrint));
    MLUOPS_TRY(mluops::need_between(kFunction, "data", data, 0, 2));
    MLUOPS_TRY(mluops::need_between(kFunction, "in_files", in_files, 0, 1));
    MLUOPS_TRY(mluops::need_between(kFunction, "outputs", outputs, 0, 1));
    auto &switches = mluops::Switches::instance();
    switches.dump = mluops::dump_of(data);
    switches.in_files = in_files != 0;
    switches.outputs = outputs != 0;
    mluops::Switches::set_mode(mode);
    return MLUOP_STATUS_SUCCESS;
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtGetGenCaseSwitches(int *mode, int *data, int *in_files, int *outputs) {
  constexpr const char *kFunction = "mluopsExtGetGenCaseSwitches";
  return mluops::guarded(kFunction, [&] {
    MLUOPS_TRY(mluops::need_pointer(kFunction, "mode", mode));
    MLUOPS_TRY(mluops::need_pointer(kFunction, "data", data));
    MLUOPS_TRY(mluops::need_pointer(kFunction, "in_files", in_files));
    MLUOPS_TRY(mluops::need_pointer(kFunction, "outputs", outputs));
    const auto &switches = mluops::Switches::instance();
    *mode = mluops::current_case_mode.load(std::memory_order_relaxed);
    *data = static_cast<int>(switches.dump.load());
    *in_files = switches.in_files ? 1 : 0;
    *outputs = switches.outputs ? 1 : 0;
    return MLUOP_STATUS_SUCCESS;
  });
}
