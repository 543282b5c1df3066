/* Shifts two groups of channels along time and prints the result.
 *
 * With pkg-config:  cc tin_shift.c $(pkg-config --cflags --libs mluops) \
 *                       -Wl,-rpath,$(pkg-config --variable=libdir mluops) -o tin_shift
 * With CMake:       see CMakeLists.txt beside this file.
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

static void check(mluOpStatus_t status) {
  if (status != MLUOP_STATUS_SUCCESS) {
    fprintf(stderr, "%s: %s\n", mluOpGetErrorString(status), mluopsExtGetLastReason());
    exit(EXIT_FAILURE);
  }
}

static mluOpTensorDescriptor_t describe(mluOpDataType_t dtype, int dim_count, const int *dims) {
  mluOpTensorDescriptor_t desc = NULL;
  check(mluOpCreateTensorDescriptor(&desc));
  check(mluOpSetTensorDescriptor(desc, MLUOP_LAYOUT_ARRAY, dtype, dim_count, dims));
  return desc;
}

static void print_row(const char *name, const float *data, int channel) {
  printf("%s", name);
  for (int t = 0; t < T; ++t) {
    printf(" %3g", data[t * C + channel]);
  }
  printf("\n");
}

int main(void) {
  const int data_dims[] = {N, T, C, HW};
  const int shift_dims[] = {N, G};
  const float input[T * C] = {1, 10, 2, 20, 3, 30, 4, 40, 5, 50};
  const int32_t shifts[G] = {1, -2};
  float output[T * C] = {0};

  mluOpHandle_t handle = NULL;
  check(mluOpCreate(&handle));
  mluOpTensorDescriptor_t data_desc = describe(MLUOP_DTYPE_FLOAT, 4, data_dims);
  mluOpTensorDescriptor_t shift_desc = describe(MLUOP_DTYPE_INT32, 2, shift_dims);

  check(mluOpTinShiftForward(handle, data_desc, input, shift_desc, shifts, data_desc, output));

  printf("library %s %s, %s, %d threads\n", mluopsExtGetLibraryKind(), mluopsExtGetLibraryVersion(),
         mluopsExtGetInstructionLevel(), mluopsExtGetNumThreads());
  for (int c = 0; c < C; ++c) {
    printf("channel %d, shift %d\n", c, (int)shifts[c]);
    print_row("  in ", input, c);
    print_row("  out", output, c);
  }

  check(mluOpDestroyTensorDescriptor(shift_desc));
  check(mluOpDestroyTensorDescriptor(data_desc));
  check(mluOpDestroy(handle));
  return EXIT_SUCCESS;
}
