// A part of the device header that some sources include by this name.
#ifndef BANG_DEVICE_FUNCTIONS_DECLS_H_
#define BANG_DEVICE_FUNCTIONS_DECLS_H_

#include "bang.h"

#endif  // BANG_DEVICE_FUNCTIONS_DECLS_H_
