// A question that is never answered.
#include <unistd.h>

#include "broken.h"
#include "cnrt.h"

extern "C" cnrtRet_t cnrtQueueGetPriority(cnrtQueue_t, int *) {
  while (true) sleep(1);
}
