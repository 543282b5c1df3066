// The name by which BANG C sources include the device header.
#ifndef MLU_H_
#define MLU_H_

#include "bang.h"

#endif  // MLU_H_
