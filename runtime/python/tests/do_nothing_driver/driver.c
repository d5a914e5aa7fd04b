/* A CUDA driver with one GPU that does nothing: memory is the host's, kernels are counted and not run. With it the path of
   arrays on a GPU is tried, and its host time measured, where no GPU is. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default"))) int

long num_launches, num_allocations, num_waits, num_bytes_copied;
long num_allocations_of_graphs, num_frees_of_graphs;
void* last_stream;
void* captured; /* the stream that is captured */

API cuInit(unsigned flags) { return 0 * flags; }
API cuDriverGetVersion(int* version) { *version = 13000; return 0; }
API cuGetErrorName(int error, const char** name) { *name = "CUDA_ERROR"; return 0 * error; }
API cuGetErrorString(int error, const char** text) { *text = "an error"; return 0 * error; }
API cuDeviceGetCount(int* count) { *count = 1; return 0; }
API cuDeviceGet(int* device, int ordinal) { *device = ordinal; return 0; }
API cuDeviceGetName(char* name, int room, int device) { snprintf(name, room, "a GPU that does nothing"); return 0 * device; }
API cuDeviceGetAttribute(int* value, int attribute, int device)
{
    switch (attribute) {
        case 1: *value = 1024; break;            /* threads of a block */
        case 8: *value = 49152; break;           /* shared memory of a block */
        case 16: *value = 132; break;            /* multiprocessors */
        case 39: *value = 2048; break;           /* threads of a multiprocessor */
        case 75: *value = 9; break;              /* compute capability */
        case 76: *value = 0; break;
        case 81: *value = 233472; break;         /* shared memory of a multiprocessor */
        case 82: *value = 65536; break;          /* its registers */
        case 97: *value = 232448; break;         /* shared memory of a block that asks for it */
        case 106: *value = 32; break;            /* blocks of a multiprocessor */
        default: *value = 1024; break;
    }
    return 0 * device;
}
API cuDeviceTotalMem_v2(size_t* bytes, int device) { *bytes = (size_t)1 << 37; return 0 * device; }
API cuDeviceGetPCIBusId(char* id, int room, int device) { snprintf(id, room, "0000:00:00.0"); return 0 * device; }
API cuDevicePrimaryCtxRetain(void** context, int device) { *context = &num_launches; return 0 * device; }
API cuDevicePrimaryCtxRelease_v2(int device) { return 0 * device; }
API cuCtxPushCurrent_v2(void* context) { return context == 0; }
API cuCtxPopCurrent_v2(void** context) { *context = &num_launches; return 0; }
API cuCtxSynchronize(void) { ++num_waits; return 0; }
API cuMemGetInfo_v2(size_t* free_bytes, size_t* total) { *free_bytes = *total = (size_t)1 << 36; return 0; }
API cuMemAlloc_v2(unsigned long long* address, size_t bytes)
{
    ++num_allocations;
    *address = (unsigned long long)aligned_alloc(256, (bytes + 255) / 256 * 256);
    return 0;
}
API cuMemFree_v2(unsigned long long address) { free((void*)address); return 0; }
API cuMemHostAlloc(void** memory, size_t bytes, unsigned flags) { *memory = malloc(bytes); return 0 * flags; }
API cuMemFreeHost(void* memory) { free(memory); return 0; }
API cuMemcpyHtoD_v2(unsigned long long to, const void* from, size_t bytes) { num_bytes_copied += bytes; memcpy((void*)to, from, bytes); return 0; }
API cuMemcpyHtoDAsync_v2(unsigned long long to, const void* from, size_t bytes, void* stream) { last_stream = stream; return cuMemcpyHtoD_v2(to, from, bytes); }
API cuMemcpyDtoH_v2(void* to, unsigned long long from, size_t bytes) { num_bytes_copied += bytes; memcpy(to, (void*)from, bytes); return 0; }
API cuMemcpyDtoHAsync_v2(void* to, unsigned long long from, size_t bytes, void* stream) { last_stream = stream; return cuMemcpyDtoH_v2(to, from, bytes); }
API cuMemcpyDtoD_v2(unsigned long long to, unsigned long long from, size_t bytes) { num_bytes_copied += bytes; memmove((void*)to, (void*)from, bytes); return 0; }
API cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from, size_t bytes, void* stream) { last_stream = stream; return cuMemcpyDtoD_v2(to, from, bytes); }
API cuMemsetD8_v2(unsigned long long to, unsigned char value, size_t count) { memset((void*)to, value, count); return 0; }
API cuMemsetD16_v2(unsigned long long to, unsigned short value, size_t count) { memset((void*)to, value, 2 * count); return 0; }
API cuMemsetD32_v2(unsigned long long to, unsigned value, size_t count) { memset((void*)to, (int)value, 4 * count); return 0; }
API cuMemsetD16Async(unsigned long long to, unsigned short value, size_t count, void* stream) { last_stream = stream; return cuMemsetD16_v2(to, value, count); }
API cuMemsetD32Async(unsigned long long to, unsigned value, size_t count, void* stream) { last_stream = stream; for (size_t i = 0; i < count; ++i) ((unsigned*)to)[i] = value; return 0; }
API cuMemsetD8Async(unsigned long long to, unsigned char value, size_t count, void* stream) { last_stream = stream; return cuMemsetD8_v2(to, value, count); }
API cuPointerGetAttribute(void* value, int attribute, unsigned long long address) { *(int*)value = 0; return attribute != 9 || address == 0; }
API cuStreamCreate(void** stream, unsigned flags) { *stream = &num_waits; return 0 * flags; }
API cuStreamDestroy_v2(void* stream) { return stream == 0; }
API cuStreamSynchronize(void* stream) { ++num_waits; last_stream = stream; return 0; }
API cuStreamWaitEvent(void* stream, void* event, unsigned flags) { return stream == event && flags; }
API cuEventCreate(void** event, unsigned flags) { *event = &num_waits; return 0 * flags; }
API cuEventDestroy_v2(void* event) { return event == 0; }
API cuEventRecord(void* event, void* stream) { last_stream = stream; return event == 0; }
API cuEventSynchronize(void* event) { return event == 0; }
API cuEventElapsedTime(float* milliseconds, void* begin, void* end) { *milliseconds = 1; return begin == 0 || end == 0; }
API cuModuleLoadDataEx(void** module, const void* image, unsigned count, int* options, void** values) { *module = &num_launches; return image == 0 && count && options && values; }
API cuModuleUnload(void* module) { return module == 0; }
API cuModuleGetFunction(void** function, void* module, const char* name) { *function = &num_launches; return module == 0 || name == 0; }
API cuFuncGetAttribute(int* value, int attribute, void* function) { *value = attribute == 0 ? 1024 : attribute == 4 ? 32 : 0; return function == 0; }
API cuFuncSetAttribute(void* function, int attribute, int value) { return function == 0 && attribute && value; }
API cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void* function, int threads, size_t shared) { *blocks = 8; return function == 0 && threads && shared; }
API cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void* stream, void** arguments, void** extra)
{
    (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)arguments, (void)extra;
    ++num_launches;
    last_stream = stream;
    return function == 0;
}
API cuGraphCreate(void** graph, unsigned flags) { *graph = &num_launches; return 0 * flags; }
API cuGraphDestroy(void* graph) { return graph == 0; }
API cuGraphAddKernelNode_v2(void** node, void* graph, const void* before, size_t count, const void* parameters) { *node = &num_launches; return graph == 0 || (count && before == 0) || parameters == 0; }
API cuGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long flags) { *executable = &num_launches; return graph == 0 && flags; }
API cuGraphExecDestroy(void* executable) { return executable == 0; }
API cuGraphExecKernelNodeSetParams_v2(void* executable, void* node, const void* parameters) { return executable == 0 || node == 0 || parameters == 0; }
API cuGraphUpload(void* executable, void* stream) { return executable == 0 && stream; }
API cuGraphLaunch(void* executable, void* stream)
{
    ++num_launches;
    last_stream = stream;
    return executable == 0;
}
API cuStreamIsCapturing(void* stream, int* is_capturing) { *is_capturing = captured != 0 && stream == captured; return 0; }
#ifndef WITHOUT_MEMORY_OF_GRAPHS
API cuMemAllocAsync(unsigned long long* address, size_t bytes, void* stream) { last_stream = stream; ++num_allocations_of_graphs; *address = (unsigned long long)aligned_alloc(256, (bytes + 255) / 256 * 256); return 0; }
API cuMemFreeAsync(unsigned long long address, void* stream) { last_stream = stream; ++num_frees_of_graphs; free((void*)address); return 0; }
#endif
