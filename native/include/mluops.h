/* Everything that the libraries of this project offer: the C ABI of mlu-ops and the extensions. */
#ifndef MLUOPS_H_
#define MLUOPS_H_

#include "mlu_op.h"
#include "mluops_ext.h"

#endif /* MLUOPS_H_ */
