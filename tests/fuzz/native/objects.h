// Handles and descriptors of a run: those that live, those that were destroyed, and what is
// mistaken for one.
#ifndef MLUOPS_FUZZ_OBJECTS_H_
#define MLUOPS_FUZZ_OBJECTS_H_

#include <map>
#include <string>
#include <vector>

#include "abi.h"
#include "bytes.h"

namespace fuzz {

class Objects {
 public:
  // A living object of a type, made if there is none; null if no function makes one.
  const void *living(const std::string &type, Bytes &bytes);
  // A new object; null if no function makes one.
  const void *create(const std::string &type);
  // Mostly a living object, else NULL, a destroyed one, one of another type, a small number, or
  // memory that is none.
  const void *any(const std::string &type, Bytes &bytes);

  bool lives(const std::string &type, const void *object) const;
  // What a function gave, and what it ended. A member dies with its set.
  void adopt(const std::string &type, const void *object);
  void adopt_member(const void *set, const void *member);
  void buried(const std::string &type, const void *object);
  void bury_all(const std::string &type);

  // What the getters of the ABI say about an object.
  static std::vector<std::uint8_t> state(const std::string &type, const void *object);

  // Destroys what lives; each must go exactly once.
  void destroy_all();
  // Leaves everything as it is.
  void forget_all() { living_.clear(); }

 private:
  std::map<std::string, std::vector<const void *>> living_, dead_;
  std::map<const void *, std::vector<const void *>> members_;
};

}  // namespace fuzz

#endif  // MLUOPS_FUZZ_OBJECTS_H_
