#include "check/sync.h"

#include <string>

#include "machine/trap.h"

namespace mlusim {
namespace {

class SyncChecker : public Observer {
 public:
  bool sees_accesses() const override { return false; }
  void run_end(const Core &core) override {
    for (const Agent agent : {kIo, kMove}) {
      for (const PendingCopy &copy : core.pending[agent]) {
        // No instruction can have used bytes that a pending copy brings on chip. Other copies are
        // complete when the kernel ends.
        const bool lost = agent == kIo && copy.target_space != Space::kGdram && copy.target_space != Space::kLdram;
        FindingText text = {"sync", lost ? "never-waited" : "drained-at-end"};
        text.pc = copy.pc;
        text.address = copy.target.base;
        text.size = copy.target.bytes * static_cast<std::uint64_t>(copy.target.pieces());
        text.message = std::string(copy.name) +
                       (lost ? " is not waited for before the kernel ends: nothing can use the copied bytes"
                             : " has no sync: only the end of the kernel waits for it");
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
