#include "machine/parameters.h"

#include <algorithm>
#include <cctype>
#include <mutex>
#include <new>

#include "base/fork.h"
#include "mlusim_source.h"

namespace mlusim {
namespace {

struct Registry {
  ForkMutex mutex;
  std::vector<const Parameters *> all;
};

Registry &registry() {
  static Registry *const instance = new Registry;  // outlives every library that is unloaded at exit
  return *instance;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Splits at the commas outside of brackets.
std::vector<std::string> split(const std::string &text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '(' || c == '[' || c == '{' || c == '<') ++depth;
    if (c == ')' || c == ']' || c == '}' || c == '>') --depth;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// Returns the name that a declaration ends with, if another word, * or & stands before it.
std::string name_in(std::string declaration) {
  declaration.resize(std::min(declaration.find('='), declaration.size()));
  declaration.resize(std::min(declaration.find('['), declaration.size()));
  const auto is_space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!declaration.empty() && is_space(declaration.back())) declaration.pop_back();
  std::size_t begin = declaration.size();
  while (begin > 0 && is_word(declaration[begin - 1])) --begin;
  const std::string name = declaration.substr(begin);
  const bool is_type = std::all_of(declaration.begin(), declaration.begin() + static_cast<std::ptrdiff_t>(begin),
                                   [&](char c) { return is_space(c); });
  static const char *const kTypes[] = {"const", "int", "unsigned", "long", "short", "char", "float", "double", "half"};
  const bool is_keyword = std::find(std::begin(kTypes), std::end(kTypes), name) != std::end(kTypes);
  return is_type || is_keyword ? "" : name;
}

// Returns the name of a kernel without template arguments.
std::string plain_name(const std::string &kernel) {
  std::string name;
  for (const char c : kernel.substr(0, kernel.find('<'))) {
    if (is_word(c) || c == ':') name += c;
  }
  return name.compare(0, 2, "::") == 0 ? name.substr(2) : name;
}

bool is_kernel(const char *declared, const std::string &launched) {
  const std::string whole = plain_name(declared);
  if (launched.empty() || whole.size() < launched.size()) return false;
  const std::size_t before = whole.size() - launched.size();
  if (whole.compare(before, launched.size(), launched) != 0) return false;
  return before == 0 || (before >= 2 && whole.compare(before - 2, 2, "::") == 0);
}

// Returns the names that all declarations of the kernel agree on, first among those of its file.
std::vector<std::string> names_of(const Launch &launch) {
  const std::string launched = plain_name(launch.kernel);
  Registry &known = registry();
  const std::lock_guard<ForkMutex> lock(known.mutex);
  for (const bool same_file : {true, false}) {
    std::vector<std::string> found;
    for (const Parameters *each : known.all) {
      if ((each->unit == launch.unit) != same_file || !is_kernel(each->kernel, launched)) continue;
      std::vector<std::string> names = names_in(each->text);
      if (static_cast<int>(names.size()) != launch.argument_count) continue;
      if (!found.empty() && found != names) return {};
      found = std::move(names);
    }
    if (!found.empty()) return found;
  }
  return {};
}

}  // namespace

std::vector<std::string> names_in(const std::string &text) {
  const std::size_t begin = text.find('('), end = text.rfind(')');
  if (begin == std::string::npos || end == std::string::npos || end <= begin + 1) return {};
  std::vector<std::string> names;
  for (const std::string &declaration : split(text.substr(begin + 1, end - begin - 1))) {
    names.push_back(name_in(declaration));
  }
  return names;
}

std::string parameter_name(const Launch &launch, int number) {
  const std::vector<std::string> names = names_of(launch);
  const std::size_t at = static_cast<std::size_t>(number);
  return at < names.size() ? names[at] : "";
}

Parameters::Parameters(const Unit *unit_of_kernel, const char *name_of_kernel, const char *text_of_all)
    : unit(unit_of_kernel), kernel(name_of_kernel), text(text_of_all) {
  Registry &known = registry();
  const std::lock_guard<ForkMutex> lock(known.mutex);
  try {
    known.all.push_back(this);
  } catch (const std::bad_alloc &) {  // its arguments have numbers then
  }
}

Parameters::~Parameters() {
  Registry &known = registry();
  const std::lock_guard<ForkMutex> lock(known.mutex);
  known.all.erase(std::remove(known.all.begin(), known.all.end(), this), known.all.end());
}

}  // namespace mlusim
