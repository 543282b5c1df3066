#include "machine/format.h"

#include <cctype>
#include <cstdint>
#include <cstring>
#include <cwchar>

#include "machine/exception.h"
#include "machine/hooks.h"

namespace mlusim {
namespace {

// The values behind a format, as functions can hand them on to each other.
struct Values {
  va_list list;
};

// A conversion of a format, such as `%-8.*lls`.
struct Conversion {
  char letter = 0;
  char length[3] = {};  // "", "h", "hh", "l", "ll", "j", "z", "t" or "L"
  long precision = -1;

  bool is(const char *text) const { return std::strcmp(length, text) == 0; }
};

// Reads a number or `*`; the value of the latter comes from the values.
long read_number(const char *&at, Values &values, const void *pc) {
  if (*at == '*') {
    ++at;
    if (std::isdigit(static_cast<unsigned char>(*at)) != 0) {
      end_kernel("the kernel called printf with a format that names its values by number", pc);
    }
    return va_arg(values.list, int);
  }
  long number = 0;
  while (std::isdigit(static_cast<unsigned char>(*at)) != 0 && number < 1000000) number = number * 10 + (*at++ - '0');
  return number;
}

// Reads a conversion behind its percent sign.
Conversion read_conversion(const char *&at, Values &values, const void *pc) {
  Conversion found;
  at += std::strspn(at, "-+ #0'I");
  read_number(at, values, pc);
  if (*at == '$') end_kernel("the kernel called printf with a format that names its values by number", pc);
  if (*at == '.') found.precision = read_number(++at, values, pc);
  for (int i = 0; i < 2 && *at != '\0' && std::strchr("hljztqL", *at) != nullptr; ++i) found.length[i] = *at++;
  found.letter = *at;
  if (*at != '\0') ++at;
  return found;
}

std::size_t size_of_count(const Conversion &conversion) {
  if (conversion.is("hh")) return sizeof(char);
  if (conversion.is("h")) return sizeof(short);
  return conversion.is("") ? sizeof(int) : sizeof(std::int64_t);
}

// Takes the value of a conversion.
void take(const Conversion &conversion, Values &values, const void *pc) {
  const bool is_wide = conversion.is("l") || conversion.letter == 'S';
  switch (conversion.letter) {
    case '\0':
    case '%':
    case 'm':
      return;
    case 's':
    case 'S': {
      const auto most = static_cast<std::size_t>(conversion.precision);  // none: -1, the greatest
      if (const void *const text = va_arg(values.list, const void *)) {
        announce_text(text, most, is_wide ? sizeof(wchar_t) : 1, pc);
      }
      return;
    }
    case 'n':
      announce(va_arg(values.list, void *), size_of_count(conversion), Kind::kWrite, pc);
      return;
    case 'p':
      va_arg(values.list, void *);
      return;
    default:
      break;
  }
  if (std::strchr("aAeEfFgG", conversion.letter) != nullptr) {
    if (conversion.is("L")) {
      va_arg(values.list, long double);
    } else {
      va_arg(values.list, double);
    }
  } else if (conversion.is("") || conversion.is("h") || conversion.is("hh")) {
    va_arg(values.list, int);
  } else {
    va_arg(values.list, std::int64_t);
  }
}

}  // namespace

void announce_text(const void *text, std::size_t most, std::size_t width, const void *pc) {
  const auto *at = static_cast<const char *>(text);
  const char end[sizeof(wchar_t)] = {};
  for (std::size_t i = 0; i < most; ++i, at += width) {
    announce(at, width, Kind::kRead, pc);
    if (std::memcmp(at, end, width) == 0) return;
  }
}

void announce_format(const char *format, va_list values, const void *pc) {
  announce_text(format, static_cast<std::size_t>(-1), 1, pc);
  Values rest;
  va_copy(rest.list, values);
  for (const char *at = std::strchr(format, '%'); at != nullptr; at = std::strchr(at, '%')) {
    take(read_conversion(++at, rest, pc), rest, pc);
  }
  va_end(rest.list);
}

}  // namespace mlusim
