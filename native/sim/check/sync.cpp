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
        FindingText text = {"sync", "never-waited"};
        text.pc = copy.pc;
        text.address = copy.target.base;
        text.size = copy.target.bytes * static_cast<std::uint64_t>(copy.target.pieces());
        text.message =
            std::string(copy.name) + " is not waited for before the kernel ends: what it copies need not arrive";
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
