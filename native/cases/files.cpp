#include "cases/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "core/target.h"

namespace mluops {
namespace {

void make_directories(const std::string &path) {
  for (std::size_t at = 1; at != std::string::npos; ++at) {
    at = path.find('/', at);
    const std::string part = path.substr(0, at);
    if (::mkdir(part.c_str(), 0777) != 0 && errno != EEXIST) throw CannotWrite{part, errno};
    if (at == std::string::npos) return;
  }
}

// Writes a new file; throws if it exists or cannot be written.
void write_file(const std::string &path, const void *data, std::size_t bytes) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) throw CannotWrite{path, errno};
  const auto *from = static_cast<const char *>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(file, from, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int error = errno;
      ::close(file);
      ::unlink(path.c_str());
      throw CannotWrite{path, error};
    }
    from += written;
    bytes -= static_cast<std::size_t>(written);
  }
  if (::close(file) != 0) throw CannotWrite{path, errno};
}

// "<operator>_20260102_03_04_05_000006_tid7_device-1" with the time of now.
std::string case_name(const char *operator_name) {
  timeval now = {};
  ::gettimeofday(&now, nullptr);
  std::tm parts = {};
  ::localtime_r(&now.tv_sec, &parts);
  char text[96];
  std::strftime(text, sizeof text, "_%Y%m%d_%H_%M_%S", &parts);
  const std::size_t used = std::strlen(text);
  std::snprintf(text + used, sizeof text - used, "_%06ld_tid%ld_device%d", static_cast<long>(now.tv_usec),
                static_cast<long>(::syscall(SYS_gettid)), current_device());
  return operator_name + std::string(text);
}

// A copy of the data of a tensor in host memory.
std::vector<char> host_copy(const CaseTensorView &view) {
  std::vector<char> bytes(static_cast<std::size_t>(view.bytes()));
  if (view.on_host) {
    std::memcpy(bytes.data(), view.data, bytes.size());
  } else if (!copy_to_host(bytes.data(), view.data, bytes.size())) {
    throw CannotWrite{"data of a tensor", EFAULT};
  }
  return bytes;
}

}  // namespace

std::vector<CaseOutput> CaseFiles::write() {
  const std::string base = case_directory();
  if (base.empty()) throw CannotWrite{"the working directory", ENOENT};
  folder_ = base + "/gen_case/" + operator_.name;
  make_directories(folder_);
  name_ = case_name(operator_.name);
  const std::string text = std::string("op_name: \"") + operator_.name + "\"\nop_type: " + operator_.type + "\n" +
                           tensors() + case_end_text(operator_, values_);
  write_file(folder_ + "/" + name_ + ".prototxt", text.data(), text.size());
  return outputs_;
}

std::string CaseFiles::tensors() {
  std::string text;
  int index = 0;
  for (const CaseTensor &tensor : operator_.inputs) {
    if (!case_has(tensor, values_)) continue;
    const CaseTensorView view = case_tensor(tensor, values_);
    std::vector<char> bytes;
    const CaseData data = input_data(tensor, view, index++, &bytes);
    text += case_tensor_text("input", tensor, view, data, values_);
  }
  for (const CaseTensor &tensor : operator_.outputs) {
    if (!case_has(tensor, values_)) continue;
    const CaseTensorView view = case_tensor(tensor, values_);
    CaseData data;
    if (case_outputs_wanted() && view.data != nullptr) {
      data.path = name_ + "_data" + std::to_string(index) + "_output";
      outputs_.push_back({folder_ + "/" + data.path, view});
    }
    ++index;
    text += case_tensor_text("output", tensor, view, data, values_);
  }
  return text;
}

CaseData CaseFiles::input_data(const CaseTensor &tensor, const CaseTensorView &view, int index,
                               std::vector<char> *bytes) const {
  CaseData data;
  const bool wanted = mode_ == kCaseData && (tensor.real || case_dump() != CaseDump::kReal);
  data.random = !wanted || view.data == nullptr;
  if (data.random || view.count() == 0) return data;
  *bytes = host_copy(view);
  if (case_data_in_files()) {
    data.path = name_ + "_data" + std::to_string(index) + "_input";
    write_file(folder_ + "/" + data.path, bytes->data(), bytes->size());
  } else {
    data.values = bytes->data();
  }
  return data;
}

void write_case_output(const CaseOutput &output) {
  const std::vector<char> bytes = host_copy(output.view);
  write_file(output.path, bytes.data(), bytes.size());
}

}  // namespace mluops
