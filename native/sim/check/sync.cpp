#include "check/sync.h"

#include <string>

#include "machine/trap.h"

namespace mlusim {
namespace {

class SyncChecker : public Observer {
 public:
  void run_end(const Core &core) override {
    for (const Agent agent : {kIo, kMove}) {
      for (const PendingCopy &copy : core.pending[agent]) {
        const bool off_chip = copy.target_space == Space::kGdram || copy.target_space == Space::kLdram;
        FindingText text = {"sync", off_chip ? "drained-at-end" : "never-waited"};
        text.pc = copy.pc;
        text.address = copy.target.base;
        text.size = copy.target.bytes * static_cast<std::uint64_t>(copy.target.pieces());
        text.message = std::string(copy.name) +
                       (off_chip ? " is waited for by nothing but the end of the kernel"
                                 : " is not waited for before the kernel ends: nothing can use what it copies");
        report(&core, text);
      }
    }
  }
};

}  // namespace

Observer &sync_checker() {
  static SyncChecker checker;
  return checker;
}

}  // namespace mlusim
