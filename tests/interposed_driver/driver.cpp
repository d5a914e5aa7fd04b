// A libcuda.so.1 that counts the calls of each entry point and passes them on to the driver. x86-64 only.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define ENTRY_POINTS(X)                            \
    X(cuInit)                                      \
    X(cuDriverGetVersion)                          \
    X(cuGetErrorName)                              \
    X(cuGetErrorString)                            \
    X(cuDeviceGetCount)                            \
    X(cuDeviceGet)                                 \
    X(cuDeviceGetName)                             \
    X(cuDeviceGetAttribute)                        \
    X(cuDeviceTotalMem_v2)                         \
    X(cuDeviceGetPCIBusId)                         \
    X(cuDeviceGetUuid_v2)                          \
    X(cuDevicePrimaryCtxRetain)                    \
    X(cuDevicePrimaryCtxRelease_v2)                \
    X(cuCtxPushCurrent_v2)                         \
    X(cuCtxPopCurrent_v2)                          \
    X(cuCtxSynchronize)                            \
    X(cuMemGetInfo_v2)                             \
    X(cuMemAlloc_v2)                               \
    X(cuMemFree_v2)                                \
    X(cuMemHostAlloc)                              \
    X(cuMemFreeHost)                               \
    X(cuMemcpyHtoD_v2)                             \
    X(cuMemcpyHtoDAsync_v2)                        \
    X(cuMemcpyDtoHAsync_v2)                        \
    X(cuMemcpyDtoH_v2)                             \
    X(cuMemcpyDtoD_v2)                             \
    X(cuMemcpyDtoDAsync_v2)                        \
    X(cuMemsetD8_v2)                               \
    X(cuMemsetD16_v2)                              \
    X(cuMemsetD32_v2)                              \
    X(cuMemsetD8Async)                             \
    X(cuMemsetD16Async)                            \
    X(cuMemsetD32Async)                            \
    X(cuStreamCreate)                              \
    X(cuStreamDestroy_v2)                          \
    X(cuStreamSynchronize)                         \
    X(cuStreamWaitEvent)                           \
    X(cuEventCreate)                               \
    X(cuEventDestroy_v2)                           \
    X(cuEventRecord)                               \
    X(cuEventSynchronize)                          \
    X(cuEventElapsedTime)                          \
    X(cuLibraryLoadData)                           \
    X(cuLibraryUnload)                             \
    X(cuLibraryGetKernel)                          \
    X(cuKernelGetFunction)                         \
    X(cuModuleLoadDataEx)                          \
    X(cuModuleUnload)                              \
    X(cuModuleGetFunction)                         \
    X(cuFuncGetAttribute)                          \
    X(cuFuncSetAttribute)                          \
    X(cuFuncGetParamInfo)                          \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor) \
    X(cuLaunchKernel)                              \
    X(cuGraphCreate)                               \
    X(cuGraphDestroy)                              \
    X(cuGraphAddKernelNode_v2)                     \
    X(cuGraphInstantiateWithFlags)                 \
    X(cuGraphExecDestroy)                          \
    X(cuGraphExecKernelNodeSetParams_v2)           \
    X(cuGraphUpload)                               \
    X(cuGraphLaunch)                               \
    X(cuStreamIsCapturing)

extern "C" {
#define DECLARE(name)          \
    void* segfold_real_##name; \
    long segfold_calls_##name = 0;
ENTRY_POINTS(DECLARE)

// Arguments stay where the caller has put them: counted, then jumped to.
#define FORWARD(name)                                                                          \
    asm(".globl " #name "\n.type " #name ",@function\n" #name ":\n  movq segfold_calls_" #name \
        "@GOTPCREL(%rip), %r11\n  lock incq (%r11)\n"                                          \
        "  movq segfold_real_" #name "@GOTPCREL(%rip), %r11\n  jmp *(%r11)\n");
ENTRY_POINTS(FORWARD)

/// How often an entry point was called; -1 for one that is not counted.
long segfold_calls(const char* entry_point)
{
#define COUNT(name)                           \
    if (std::strcmp(entry_point, #name) == 0) \
        return __atomic_load_n(&segfold_calls_##name, __ATOMIC_RELAXED);
    ENTRY_POINTS(COUNT)
    return -1;
}
}

namespace {

/// Runs before anybody can ask for an entry point.
[[gnu::constructor]] void open_driver()
{
    const char* file = std::getenv("SEGFOLD_REAL_DRIVER");
    void* driver = file != nullptr ? dlopen(file, RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (driver == nullptr) {
        std::fprintf(stderr, "SEGFOLD_REAL_DRIVER must name the driver's libcuda.so.1: %s\n",
                     file != nullptr ? dlerror() : "it is not set");
        std::exit(2);
    }
#define FIND(name) segfold_real_##name = dlsym(driver, #name);
    ENTRY_POINTS(FIND)
}

}  // namespace
