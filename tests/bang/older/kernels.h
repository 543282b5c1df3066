// Kernels that are compiled alone and launched from other sources by their addresses.
#ifndef KERNELS_H_
#define KERNELS_H_

struct Range {
  int begin;
  int end;
};

extern "C" {
void fill_range(float *out, Range range, float value);
void count_tasks(int *counts);
}

#endif
