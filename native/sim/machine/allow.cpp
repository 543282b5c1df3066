#include "machine/allow.h"

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <string>
#include <vector>

#include "base/fork.h"
#include "machine/lines.h"
#include "machine/rules.h"
#include "mlusim_source.h"

namespace mlusim {
namespace {

// The allowances of all loaded libraries; libraries load and unload on any thread.
struct Registry {
  ForkMutex mutex;
  std::vector<const Allowance *> all;
};

Registry &registry() {
  static Registry *const instance = new Registry;  // outlives every library that is unloaded at exit
  return *instance;
}

// Line tables may omit the working folder, so one name may be the end of the other.
bool same_file(const std::string &a, const std::string &b) {
  const std::string &longer = a.size() > b.size() ? a : b;
  const std::string &shorter = a.size() > b.size() ? b : a;
  const std::size_t rest = longer.size() - shorter.size();
  return !shorter.empty() && longer.compare(rest, shorter.size(), shorter) == 0 &&
         (rest == 0 || longer[rest - 1] == '/');
}

// Whether a list such as "race/between-cores,init" names the rule or its checker.
bool names_rule(const std::string &rules, const std::string &checker, const std::string &rule) {
  for (std::size_t at = 0; at <= rules.size();) {
    const std::size_t comma = std::min(rules.find(',', at), rules.size());
    const std::string word = rules.substr(at, comma - at);
    if (word == "all" || word == checker || word == checker + "/" + rule) return true;
    at = comma + 1;
  }
  return false;
}

// Sources of several libraries may have the same name.
bool lies_in(const Allowance *allowance, const std::string &library) {
  std::string own;
  return in_loaded_library(allowance, &own) && own == library;
}

// An unknown word is no error: the finding is reported then.
void warn_of_unknown(const Allowance &allowance) {
  const std::string rules = allowance.rules;
  for (std::size_t at = 0; at <= rules.size();) {
    const std::size_t comma = std::min(rules.find(',', at), rules.size());
    const std::string word = rules.substr(at, comma - at);
    if (!is_rule_or_checker(word)) {
      std::fprintf(stderr, "mlusim: %s:%d: allow(%s): there is no rule or checker of this name\n", allowance.file,
                   allowance.line, word.c_str());
    }
    at = comma + 1;
  }
}

}  // namespace

Allowance::Allowance(const char *source, int number, const char *names) : file(source), line(number), rules(names) {
  warn_of_unknown(*this);
  Registry &known = registry();
  const std::lock_guard<ForkMutex> lock(known.mutex);
  known.all.push_back(this);
}

Allowance::~Allowance() {
  Registry &known = registry();
  const std::lock_guard<ForkMutex> lock(known.mutex);
  known.all.erase(std::remove(known.all.begin(), known.all.end(), this), known.all.end());
}

bool any_allowed() {
  Registry &known = registry();
  const std::lock_guard<ForkMutex> lock(known.mutex);
  return !known.all.empty();
}

bool is_allowed(const void *pc, const char *checker, const char *rule) {
  SourceLine place;
  std::string library;
  if (pc == nullptr || !find_line(pc, &place) || !in_loaded_library(pc, &library)) return false;
  Registry &known = registry();
  const std::lock_guard<ForkMutex> lock(known.mutex);
  return std::any_of(known.all.begin(), known.all.end(), [&](const Allowance *allowance) {
    return allowance->line == place.line && same_file(allowance->file, place.file) &&
           names_rule(allowance->rules, checker, rule) && lies_in(allowance, library);
  });
}

}  // namespace mlusim
