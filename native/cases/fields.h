// Fields of descriptors, by the names that dumped cases have for them.
#ifndef MLUOPS_CASES_FIELDS_H_
#define MLUOPS_CASES_FIELDS_H_

#include "cases/table.h"

namespace mluops {

bool carafe_field(const void *object, const char *field, CaseNumbers *numbers);
bool nms_field(const void *object, const char *field, CaseNumbers *numbers);
bool roi_align_field(const void *object, const char *field, CaseNumbers *numbers);
bool adamw_field(const void *object, const char *field, CaseNumbers *numbers);
bool dcn_field(const void *object, const char *field, CaseNumbers *numbers);
bool fft_field(const void *object, const char *field, CaseNumbers *numbers);
bool sparse_convolution_field(const void *object, const char *field, CaseNumbers *numbers);

}  // namespace mluops

#endif  // MLUOPS_CASES_FIELDS_H_
