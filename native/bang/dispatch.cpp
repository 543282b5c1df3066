#include "bang/dispatch.h"

#include "bang/policy.h"

namespace mluops {

int current_arch() {
  Card card = {};
  return read_card("mluOpCreate", &card) == MLUOP_STATUS_SUCCESS ? card.arch : 0;
}

}  // namespace mluops
