#include "runtime/card_file.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "machine/model.h"

namespace mlusim {
namespace {

constexpr long kMostBytes = 1 << 20;
constexpr std::size_t kMostShown = 60;  // characters of a line or a value
constexpr char kBlanks[] = " \t\r";

bool read_file(const std::string &path, std::string *text, std::string *reason) {
  struct stat status = {};
  const bool found = stat(path.c_str(), &status) == 0;
  *reason = found ? "expected a regular file of at most 1 MiB" : std::strerror(errno);
  if (!found || !S_ISREG(status.st_mode) || status.st_size > kMostBytes) return false;
  const std::unique_ptr<std::FILE, int (*)(std::FILE *)> file(std::fopen(path.c_str(), "re"), std::fclose);
  if (file == nullptr) {
    *reason = std::strerror(errno);
    return false;
  }
  text->resize(static_cast<std::size_t>(status.st_size));
  text->resize(std::fread(&(*text)[0], 1, text->size(), file.get()));
  return true;
}

std::string trimmed(const std::string &text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

// Returns the line without its comment, which a text in quotes may not hold the sign of.
std::string without_comment(const std::string &line) {
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (quote != 0) {
      if (line[i] == quote) quote = 0;
    } else if (line[i] == '"' || line[i] == '\'') {
      quote = line[i];
    } else if (line[i] == '#') {
      return line.substr(0, i);
    }
  }
  return line;
}

// Reads a text in quotes; false if the value is none. Escapes are not read.
bool read_text(const std::string &value, std::string *text) {
  const std::size_t size = value.size();
  if (size < 2 || (value[0] != '"' && value[0] != '\'') || value.find(value[0], 1) != size - 1) return false;
  *text = value.substr(1, size - 2);
  return value[0] == '\'' || text->find('\\') == std::string::npos;
}

// Reads a number in decimals, which may have underscores between digits.
bool read_number(const std::string &value, std::int64_t *number) {
  std::string digits;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value[i] != '_') digits += value[i];
    if (value[i] == '_' && (i == 0 || i + 1 == value.size() || value[i + 1] == '_')) return false;
  }
  const bool wrong =
      digits.empty() || digits.size() > 10 || digits.find_first_not_of("0123456789") != std::string::npos;
  if (wrong || (digits.size() > 1 && digits[0] == '0')) return false;
  *number = std::strtoll(digits.c_str(), nullptr, 10);
  return *number <= INT32_MAX;
}

// Sets the figure of that name; false if there is none.
bool set_figure(const std::string &key, std::int64_t number, mlusimDeviceModel *model) {
  const struct {
    const char *key;
    std::int32_t *figure;
  } figures[] = {
      {"arch", &model->arch},
      {"clusters", &model->clusters},
      {"nram_kib", &model->nram_kib},
      {"cores_per_cluster", &model->cores_per_cluster},
      {"wram_kib", &model->wram_kib},
      {"sram_kib", &model->sram_kib},
      {"stack_kib", &model->stack_kib},
      {"clock_mhz", &model->clock_mhz},
      {"bandwidth_gb_s", &model->bandwidth_gb_s},
  };
  if (key == "memory_mib") return model->memory_mib = number, true;
  for (const auto &figure : figures) {
    if (key == figure.key) return *figure.figure = static_cast<std::int32_t>(number), true;
  }
  return false;
}

// Reads the lines of a description.
class Reader {
 public:
  bool read(const std::string &text, mlusimDeviceModel *model, std::string *reason) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      line = trimmed(without_comment(line));
      if (line.empty() || take(line)) continue;
      *reason = reason_;
      return false;
    }
    if (!base_.empty() && !has_base(reason)) return false;
    for (const auto &figure : figures_) set_figure(figure.first, figure.second, &model_);
    if (!name_.empty()) {
      std::memset(model_.name, 0, sizeof model_.name);
      std::memcpy(model_.name, name_.c_str(), name_.size());
    }
    *model = model_;
    const char *problem = "";
    if (valid_model(*model, &problem)) return true;
    *reason = problem;
    return false;
  }

 private:
  bool refuse(const std::string &text) {
    reason_ = text;
    return false;
  }

  bool take(const std::string &line) {
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos) return refuse("expected KEY = VALUE, got '" + line.substr(0, kMostShown) + "'");
    const std::string key = trimmed(line.substr(0, equals));
    const std::string value = trimmed(line.substr(equals + 1));
    const std::string got = ", got " + value.substr(0, kMostShown);
    if (!keys_.insert(key).second) return refuse(key.substr(0, kMostShown) + ": given twice");
    if (key == "base") return read_text(value, &base_) || refuse("base: expected the name of a model in quotes" + got);
    if (key == "name") {
      const bool fits = read_text(value, &name_) && !name_.empty() && name_.size() < sizeof model_.name;
      return fits || refuse("name: expected a text of 1 to 31 characters in quotes" + got);
    }
    mlusimDeviceModel scratch = {};
    if (!set_figure(key, 0, &scratch)) {
      return refuse(key.substr(0, kMostShown) + ": expected only base, name and the figures of a device");
    }
    std::int64_t number = 0;
    if (!read_number(value, &number)) return refuse(key + ": expected an integer from 0 to 2147483647" + got);
    figures_.emplace_back(key, number);
    return true;
  }

  bool has_base(std::string *reason) {
    const mlusimDeviceModel *base = known_models();
    while (base->name[0] != '\0' && base_ != base->name) ++base;
    if (base->name[0] == '\0') {
      *reason = "base: no model is called '" + base_.substr(0, kMostShown) + "'";
      return false;
    }
    model_ = *base;
    return true;
  }

  mlusimDeviceModel model_ = {};
  std::set<std::string> keys_;
  std::string base_, name_, reason_;
  std::vector<std::pair<std::string, std::int64_t>> figures_;
};

}  // namespace

bool read_card_file(const std::string &path, mlusimDeviceModel *model, std::string *reason) {
  std::string text;
  if (read_file(path, &text, reason) && Reader().read(text, model, reason)) return true;
  *reason = path + ": " + *reason;
  return false;
}

}  // namespace mlusim
