#include "runtime/error.h"

#include <utility>

#include "base/thread_state.h"
#include "machine/model.h"
#include "mlusim.h"

namespace mlusim {
namespace {

struct ErrorText {
  cnrtRet_t error;
  const char *name;
  const char *text;
};

constexpr ErrorText kErrors[] = {
    {cnrtSuccess, "cnrtSuccess", "no error"},
    {cnrtErrorNotReady, "cnrtErrorNotReady", "the work that was asked about is not done yet"},
    {cnrtErrorInit, "cnrtErrorInit", "the runtime could not be initialised"},
    {cnrtErrorNoDevice, "cnrtErrorNoDevice", "there is no device"},
    {cnrtErrorDeviceInvalid, "cnrtErrorDeviceInvalid", "there is no device of this number"},
    {cnrtErrorArgsInvalid, "cnrtErrorArgsInvalid", "an argument is not valid; mlusimGetLastError() tells which"},
    {cnrtErrorSys, "cnrtErrorSys", "the operating system refused something"},
    {cnrtErrorSysNoMem, "cnrtErrorSysNoMem", "out of host memory"},
    {cnrtErrorInvalidResourceHandle, "cnrtErrorInvalidResourceHandle",
     "the handle stands for no living object of its kind"},
    {cnrtErrorIllegalState, "cnrtErrorIllegalState", "an object is not in the state that the call needs"},
    {cnrtErrorNotSupport, "cnrtErrorNotSupport", "the simulator does not have this"},
    {cnrtErrorOpsNotPermitted, "cnrtErrorOpsNotPermitted", "the call is not permitted here"},
    {cnrtErrorQueue, "cnrtErrorQueue", "a queue failed"},
    {cnrtErrorNoMem, "cnrtErrorNoMem", "out of device memory"},
    {cnrtErrorAssert, "cnrtErrorAssert", "an assertion of a kernel failed"},
    {cnrtErrorKernelTrap, "cnrtErrorKernelTrap", "a kernel was ended; mlusimGetReport() tells why"},
    {cnrtErrorKernelUserTrap, "cnrtErrorKernelUserTrap", "a kernel ended itself with an error"},
    {cnrtErrorNotFound, "cnrtErrorNotFound", "something was not found"},
    {cnrtErrorInvalidKernel, "cnrtErrorInvalidKernel", "the kernel does not fit the device"},
    {cnrtErrorUnsupportedKernelVersion, "cnrtErrorUnsupportedKernelVersion",
     "the kernel was compiled for other devices"},
    {cnrtErrorQueueCaptureUnsupported, "cnrtErrorQueueCaptureUnsupported", "queues cannot be captured"},
    {cnrtErrorQueueCaptureInvalidated, "cnrtErrorQueueCaptureInvalidated",
     "the capture of the queue is no longer valid"},
    {cnrtErrorQueueCaptureWrongThread, "cnrtErrorQueueCaptureWrongThread", "another thread captures the queue"},
    {cnrtErrorQueueCaptureMerged, "cnrtErrorQueueCaptureMerged", "two captures would be merged"},
    {cnrtErrorQueueCaptureUnjoined, "cnrtErrorQueueCaptureUnjoined", "a part of the capture was not joined"},
    {cnrtErrorQueueCaptureIsolation, "cnrtErrorQueueCaptureIsolation", "the capture depends on work outside it"},
    {cnrtErrorQueueCaptureUnmatched, "cnrtErrorQueueCaptureUnmatched", "the capture was not begun on this queue"},
    {cnrtErrorTaskTopoEntityUpdateFailure, "cnrtErrorTaskTopoEntityUpdateFailure", "a task topology cannot be updated"},
    {cnrtErrorNoKernel, "cnrtErrorNoKernel", "there is no such kernel"},
    {cnrtErrorNoModule, "cnrtErrorNoModule", "there is no such module"},
    {cnrtErrorSetOnActiveProcess, "cnrtErrorSetOnActiveProcess", "this cannot be set while the device is in use"},
    {cnrtErrorDevice, "cnrtErrorDevice", "the device failed"},
    {cnrtErrorNoAttribute, "cnrtErrorNoAttribute", "there is no attribute of this number"},
    {cnrtErrorMemcpyDirectionInvalid, "cnrtErrorMemcpyDirectionInvalid",
     "the pointers do not fit the direction of the copy"},
    {cnrtErrorBusy, "cnrtErrorBusy", "the work that was asked about is not done yet (an older number)"},
    {cnrtErrorCndrvFuncCall, "cnrtErrorCndrvFuncCall", "a call of the driver failed"},
    {cnrtErrorCndevFuncCall, "cnrtErrorCndevFuncCall", "a call of the device management failed"},
    {cnrtErrorNoCnrtContext, "cnrtErrorNoCnrtContext", "the thread has no context"},
    {cnrtErrorCndrvFuncNotFound, "cnrtErrorCndrvFuncNotFound", "the driver lacks a function"},
    {cnrtErrorInvalidSymbol, "cnrtErrorInvalidSymbol", "there is no such symbol"},
    {cnrtErrorUnknown, "cnrtErrorUnknown", "an unknown error"},
    {cnrtErrorMax, "cnrtErrorMax", "the end of the error numbers"},
};

const ErrorText &text_of(cnrtRet_t error) {
  static const ErrorText unknown = {cnrtErrorUnknown, "cnrtErrorUnknown", "not the number of any error"};
  for (const ErrorText &entry : kErrors) {
    if (entry.error == error) return entry;
  }
  return unknown;
}

}  // namespace

cnrtRet_t check_device(const char *function, const char *argument, int device) {
  if (device >= 0 && device < device_count()) return cnrtSuccess;
  return explain(cnrtErrorDeviceInvalid, "%s: %s: expected 0 to %d, got %d", function, argument, device_count() - 1,
                 device);
}

const char *called_name(const char *function) {
  const char *const called = thread_state().called;
  return called != nullptr ? called : function;
}

cnrtRet_t note(cnrtRet_t error) {
  // cnrtErrorNotReady is an answer, not an error.
  if (error != cnrtSuccess && error != cnrtErrorNotReady) thread_state().last_error = error;
  return error;
}

}  // namespace mlusim

using mlusim::text_of;

const char *cnrtGetErrorName(cnrtRet_t error) { return text_of(error).name; }

const char *cnrtGetErrorStr(cnrtRet_t error) { return text_of(error).text; }

cnrtRet_t cnrtGetLastError(void) { return std::exchange(mlusim::thread_state().last_error, cnrtSuccess); }

cnrtRet_t cnrtPeekAtLastError(void) { return mlusim::thread_state().last_error; }

const char *mlusimGetLastError(void) { return mlusim::explanation(); }
