#include "check/domain.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <limits>
#include <string>

#include "check/align.h"
#include "machine/rules.h"
#include "machine/trap.h"

namespace mlusim {
namespace {

struct Range32 {
  float low, high;
};

// The reference of the intrinsics shows this table.
struct Domain {
  const char *name;
  Range32 of_float, of_half;
  bool integers = false;  // only for whole numbers
};

constexpr float kAny = std::numeric_limits<float>::max();
constexpr float kTwoPi = 6.2831855f;
constexpr float kMostHalf = 65504;
constexpr Range32 kFinite = {-kAny, kAny};

constexpr Domain same(const char *name, Range32 range) { return {name, range, range}; }

// Sorted by name.
constexpr Domain kDomains[] = {
    same("__bang_active_cos", {-kTwoPi, kTwoPi}),
    same("__bang_active_exp", {-7.75f, 10.25f}),
    same("__bang_active_exp_less_0", {-15.5f, 0}),
    {"__bang_active_exphp", {-15, 16}, {-7.75f, 10.25f}},
    same("__bang_active_gelu", {-3.875f, kAny}),
    same("__bang_active_gelup", {-3.875f, kAny}),
    same("__bang_active_log", {6.1e-5f, 63484}),
    {"__bang_active_loghp", {7.2e-9f, 507903}, {6.1e-5f, kMostHalf}},
    {"__bang_active_pow2", {-31, 31}, {-24, 15}, true},
    same("__bang_active_recip", {0.00391f, 63487}),
    same("__bang_active_recip_greater_1", {1, 63487}),
    {"__bang_active_reciphp", {0.00391f, 2e6f}, {0.00391f, kMostHalf}},
    same("__bang_active_rsqrt", {0.005f, 63487}),
    {"__bang_active_rsqrthp", {0.000367f, 1e6f}, {0.000367f, kMostHalf}},
    same("__bang_active_sigmoid", kFinite),
    same("__bang_active_sin", {-kTwoPi, kTwoPi}),
    same("__bang_active_sqrt", {0, 63487}),
    {"__bang_active_sqrthp", {0, 677268}, {0, kMostHalf}},
    same("__bang_active_tanh", kFinite),
};

const Domain *domain_of(const char *name) {
  if (std::strncmp(name, "__bang_active_", std::strlen("__bang_active_")) != 0) return nullptr;
  const auto before = [](const Domain &domain, const char *wanted) { return std::strcmp(domain.name, wanted) < 0; };
  const Domain *found = std::lower_bound(std::begin(kDomains), std::end(kDomains), name, before);
  return found != std::end(kDomains) && std::strcmp(found->name, name) == 0 ? found : nullptr;
}

std::string range_text(const Domain &domain, const Range32 &range) {
  if (range.high == kAny && range.low == -kAny) return "finite numbers";
  char text[80];
  if (range.high == kAny) {
    std::snprintf(text, sizeof text, "numbers from %g on", static_cast<double>(range.low));
  } else {
    std::snprintf(text, sizeof text, "%s from %g to %g", domain.integers ? "whole numbers" : "numbers",
                  static_cast<double>(range.low), static_cast<double>(range.high));
  }
  return text;
}

void complain(const Call &call, const Domain &domain, const Range32 &range, std::int64_t outside, float first) {
  char value[40];
  std::snprintf(value, sizeof value, "%g", static_cast<double>(first));
  FindingText text = {"align", "domain"};
  text.pc = call.pc;
  text.message = std::string(call.name) + ": src: expected " + range_text(domain, range) + ", got " + value;
  if (outside > 1) text.message += " and " + std::to_string(outside - 1) + " more outside of them";
  report(&call.core, text);
}

}  // namespace

void domain_check(const Call &call, bool half, const void *src, std::int64_t count, ElementReader read) {
  if (!align_is_watched() || !is_on("align", "domain")) return;
  const Domain *const domain = domain_of(call.name);
  if (domain == nullptr) return;
  const Range32 &range = half ? domain->of_half : domain->of_float;
  std::int64_t outside = 0;
  float first = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    bool defined = true;
    const float value = read(src, i, &defined);
    const bool within = value >= range.low && value <= range.high;
    const bool inside = within && (!domain->integers || value == std::floor(value));
    if (inside || !defined) continue;
    if (outside++ == 0) first = value;
  }
  if (outside != 0) complain(call, *domain, range, outside, first);
}

}  // namespace mlusim
