#include <cstdio>
#include <vector>

#include "cnrt.h"
#include "util.h"

int main() {
  std::vector<float> host(256, 2.f);
  float *in = nullptr, *out = nullptr;
  cnrtMalloc((void **)&in, 1024);
  cnrtMalloc((void **)&out, 1024);
  cnrtMemcpy(in, host.data(), 1024, cnrtMemcpyHostToDev);
  cnrtQueue_t queue;
  cnrtQueueCreate(&queue);
  host_api(queue, Args{8, {1, 2, 3, 4}, in}, out);
  std::printf("%d ", cnrtQueueSync(queue));
  cnrtMemcpy(host.data(), out, 1024, cnrtMemcpyDevToHost);
  std::printf("%g %g %g\n", host[0], host[1], host[32]);
}
