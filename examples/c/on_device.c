/* The same shift in the memory of a device: allocation, copies and a queue of CNRT.
 *
 * docs/c.md has the command that builds it with the simulator of a Python installation. mlu_op.h
 * includes cnrt.h where the compiler finds it.
 */
#include <mluops.h>
#include <stdio.h>
#include <stdlib.h>

enum {
  N = 1,
  T = 5,
  C = 2,
  HW = 1,
  G = 2
};

static void check(int holds, const char *what) {
  if (!holds) {
    fprintf(stderr, "%s failed: %s\n", what, mluopsExtGetLastReason());
    exit(EXIT_FAILURE);
  }
}

static void *on_device(const void *values, size_t bytes) {
  void *memory = NULL;
  check(cnrtMalloc(&memory, bytes) == cnrtSuccess, "cnrtMalloc");
  if (values != NULL) {
    check(cnrtMemcpy(memory, (void *)values, bytes, cnrtMemcpyHostToDev) == cnrtSuccess, "cnrtMemcpy");
  }
  return memory;
}

static mluOpTensorDescriptor_t describe(mluOpDataType_t dtype, int dim_count, const int *dims) {
  mluOpTensorDescriptor_t desc = NULL;
  check(mluOpCreateTensorDescriptor(&desc) == MLUOP_STATUS_SUCCESS, "mluOpCreateTensorDescriptor");
  check(mluOpSetTensorDescriptor(desc, MLUOP_LAYOUT_ARRAY, dtype, dim_count, dims) == MLUOP_STATUS_SUCCESS,
        "mluOpSetTensorDescriptor");
  return desc;
}

int main(void) {
  const int data_dims[] = {N, T, C, HW};
  const int shift_dims[] = {N, G};
  const float input[T * C] = {1, 10, 2, 20, 3, 30, 4, 40, 5, 50};
  const int32_t shifts[G] = {1, -2};
  float output[T * C] = {0};

  cnrtQueue_t queue = NULL;
  mluOpHandle_t handle = NULL;
  check(cnrtSetDevice(0) == cnrtSuccess, "cnrtSetDevice");
  check(cnrtQueueCreate(&queue) == cnrtSuccess, "cnrtQueueCreate");
  check(mluOpCreate(&handle) == MLUOP_STATUS_SUCCESS, "mluOpCreate");
  check(mluOpSetQueue(handle, queue) == MLUOP_STATUS_SUCCESS, "mluOpSetQueue");
  mluOpTensorDescriptor_t data_desc = describe(MLUOP_DTYPE_FLOAT, 4, data_dims);
  mluOpTensorDescriptor_t shift_desc = describe(MLUOP_DTYPE_INT32, 2, shift_dims);

  void *device_input = on_device(input, sizeof input);
  void *device_shifts = on_device(shifts, sizeof shifts);
  void *device_output = on_device(NULL, sizeof output);
  check(mluOpTinShiftForward(handle, data_desc, device_input, shift_desc, device_shifts, data_desc, device_output) ==
            MLUOP_STATUS_SUCCESS,
        "mluOpTinShiftForward");
  check(cnrtQueueSync(queue) == cnrtSuccess, "cnrtQueueSync");
  check(cnrtMemcpy(output, device_output, sizeof output, cnrtMemcpyDevToHost) == cnrtSuccess, "cnrtMemcpy");

  for (int t = 0; t < T; ++t) {
    printf("%g %g\n", (double)output[t * C], (double)output[t * C + 1]);
  }

  cnrtFree(device_input);
  cnrtFree(device_shifts);
  cnrtFree(device_output);
  mluOpDestroyTensorDescriptor(shift_desc);
  mluOpDestroyTensorDescriptor(data_desc);
  mluOpDestroy(handle);
  cnrtQueueDestroy(queue);
  return EXIT_SUCCESS;
}
