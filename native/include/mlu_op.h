/* The name under which vendor-style sources include the ABI. */
#include "mluops.h"
