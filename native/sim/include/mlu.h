// The name that BANG C sources include the device header by.
#ifndef MLU_H_
#define MLU_H_

#include "bang.h"

#endif  // MLU_H_
