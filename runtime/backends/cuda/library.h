#pragma once
// Opens the CUDA driver and NVRTC at run time. This file is the only list of their entry points.
//
// It needs no CUDA header. The types and prototypes below are copied from cuda.h and nvrtc.h.
#include <cstddef>
#include <filesystem>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

// The tags are those of cuda.h and nvrtc.h. So handles have the same types in files that include these
// headers.
struct CUctx_st;
struct CUevent_st;
struct CUfunc_st;
struct CUgraph_st;
struct CUgraphExec_st;
struct CUgraphNode_st;
struct CUkern_st;
struct CUlib_st;
struct CUmod_st;
struct CUstream_st;
struct _nvrtcProgram;

namespace segfold::cuda {

using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = CUctx_st*;
using CUevent = CUevent_st*;
using CUfunction = CUfunc_st*;
using CUgraph = CUgraph_st*;
using CUgraphExec = CUgraphExec_st*;
using CUgraphNode = CUgraphNode_st*;
using CUkernel = CUkern_st*;
using CUlibrary = CUlib_st*;
using CUmodule = CUmod_st*;
using CUstream = CUstream_st*;
using nvrtcProgram = _nvrtcProgram*;

/// Result of a driver call. Only values that the code tells apart have names.
enum class CUresult : int {
    success = 0,
    invalid_value = 1,
    out_of_memory = 2,
    not_initialized = 3,
    deinitialized = 4,
    no_device = 100,
    invalid_image = 200,
    no_binary_for_gpu = 209,
    unsupported_ptx_version = 222,
    not_found = 500,
    illegal_address = 700,
    launch_out_of_resources = 701,
    launch_failed = 719,
};

/// Result of an NVRTC call.
enum class nvrtcResult : int {
    success = 0,
    invalid_option = 5,
    compilation = 6,
    builtin_operation_failure = 7
};

/// The value of CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL in cuda.h.
inline constexpr int kPointerDeviceOrdinal = 9;

struct CUuuid {
    unsigned char bytes[16];
};

/// A kernel in a graph. CUDA 12 calls it CUDA_KERNEL_NODE_PARAMS.
struct CUkernelNodeParams {
    CUfunction func;
    unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    void** kernelParams;
    void** extra;
    CUkernel kern;
    CUcontext ctx;  ///< null for the current context
};

/// A shared library. It stays open until the process ends, because its code may own threads and exit
/// handlers.
class SharedLibrary {
public:
    /// Takes ownership of a handle from dlopen. Messages call the library `path`.
    SharedLibrary(void* handle, std::string path) : handle_(handle), path_(std::move(path)) {}

    [[nodiscard]] const std::string& path() const { return path_; }

    /// Returns the address of `symbol`; null if the library does not have it.
    [[nodiscard]] void* find(const char* symbol) const;

private:
    void* handle_;
    std::string path_;
};

/// Returns the address of `symbol`. If the library does not have it, throws DeviceError that names both.
[[nodiscard]] void* require_symbol(const SharedLibrary& library, const char* symbol);

/// Tells whether a library may lack an entry point. Entry points of later CUDA releases are optional.
enum class Presence { required, optional };

/// A function of a shared library. It is called like the function itself.
template <class Function>
class EntryPoint;

template <class Result, class... Parameters>
class EntryPoint<Result(Parameters...)> {
public:
    EntryPoint(const SharedLibrary& library, const char* symbol, Presence presence = Presence::required)
        : function_(reinterpret_cast<Result (*)(Parameters...)>(
              presence == Presence::required ? require_symbol(library, symbol) : library.find(symbol)))
    {}

    /// False if the entry point is optional and this library lacks it.
    explicit operator bool() const { return function_ != nullptr; }
    Result operator()(Parameters... arguments) const { return function_(arguments...); }

private:
    Result (*function_)(Parameters...);
};

/// The functions of the driver API, from libcuda.so.1. A symbol's name includes the version suffix, if any,
/// that cuda.h adds.
struct Driver {
    SharedLibrary library;

    EntryPoint<CUresult(unsigned)> cuInit{library, "cuInit"};
    EntryPoint<CUresult(int*)> cuDriverGetVersion{library, "cuDriverGetVersion"};
    EntryPoint<CUresult(CUresult, const char**)> cuGetErrorName{library, "cuGetErrorName"};
    EntryPoint<CUresult(CUresult, const char**)> cuGetErrorString{library, "cuGetErrorString"};

    EntryPoint<CUresult(int*)> cuDeviceGetCount{library, "cuDeviceGetCount"};
    EntryPoint<CUresult(CUdevice*, int)> cuDeviceGet{library, "cuDeviceGet"};
    EntryPoint<CUresult(char*, int, CUdevice)> cuDeviceGetName{library, "cuDeviceGetName"};
    EntryPoint<CUresult(int*, int, CUdevice)> cuDeviceGetAttribute{library, "cuDeviceGetAttribute"};
    EntryPoint<CUresult(std::size_t*, CUdevice)> cuDeviceTotalMem{library, "cuDeviceTotalMem_v2"};
    EntryPoint<CUresult(char*, int, CUdevice)> cuDeviceGetPCIBusId{library, "cuDeviceGetPCIBusId"};
    EntryPoint<CUresult(CUuuid*, CUdevice)> cuDeviceGetUuid{library, "cuDeviceGetUuid_v2",
                                                            Presence::optional};

    EntryPoint<CUresult(CUcontext*, CUdevice)> cuDevicePrimaryCtxRetain{library, "cuDevicePrimaryCtxRetain"};
    EntryPoint<CUresult(CUdevice)> cuDevicePrimaryCtxRelease{library, "cuDevicePrimaryCtxRelease_v2"};
    EntryPoint<CUresult(CUcontext)> cuCtxPushCurrent{library, "cuCtxPushCurrent_v2"};
    EntryPoint<CUresult(CUcontext*)> cuCtxPopCurrent{library, "cuCtxPopCurrent_v2"};
    EntryPoint<CUresult()> cuCtxSynchronize{library, "cuCtxSynchronize"};

    EntryPoint<CUresult(std::size_t*, std::size_t*)> cuMemGetInfo{library, "cuMemGetInfo_v2"};
    EntryPoint<CUresult(CUdeviceptr*, std::size_t)> cuMemAlloc{library, "cuMemAlloc_v2"};
    EntryPoint<CUresult(CUdeviceptr)> cuMemFree{library, "cuMemFree_v2"};
    EntryPoint<CUresult(void**, std::size_t, unsigned)> cuMemHostAlloc{library, "cuMemHostAlloc"};
    EntryPoint<CUresult(void*)> cuMemFreeHost{library, "cuMemFreeHost"};
    EntryPoint<CUresult(CUdeviceptr, const void*, std::size_t)> cuMemcpyHtoD{library, "cuMemcpyHtoD_v2"};
    EntryPoint<CUresult(CUdeviceptr, const void*, std::size_t, CUstream)> cuMemcpyHtoDAsync{
        library, "cuMemcpyHtoDAsync_v2"};
    EntryPoint<CUresult(void*, CUdeviceptr, std::size_t, CUstream)> cuMemcpyDtoHAsync{library,
                                                                                      "cuMemcpyDtoHAsync_v2"};
    EntryPoint<CUresult(void*, CUdeviceptr, std::size_t)> cuMemcpyDtoH{library, "cuMemcpyDtoH_v2"};
    EntryPoint<CUresult(CUdeviceptr, CUdeviceptr, std::size_t)> cuMemcpyDtoD{library, "cuMemcpyDtoD_v2"};
    EntryPoint<CUresult(CUdeviceptr, CUdeviceptr, std::size_t, CUstream)> cuMemcpyDtoDAsync{
        library, "cuMemcpyDtoDAsync_v2"};
    EntryPoint<CUresult(CUdeviceptr, unsigned char, std::size_t)> cuMemsetD8{library, "cuMemsetD8_v2"};
    EntryPoint<CUresult(CUdeviceptr, unsigned short, std::size_t)> cuMemsetD16{library, "cuMemsetD16_v2"};
    EntryPoint<CUresult(CUdeviceptr, unsigned, std::size_t)> cuMemsetD32{library, "cuMemsetD32_v2"};
    EntryPoint<CUresult(CUdeviceptr, unsigned char, std::size_t, CUstream)> cuMemsetD8Async{
        library, "cuMemsetD8Async"};
    EntryPoint<CUresult(CUdeviceptr, unsigned short, std::size_t, CUstream)> cuMemsetD16Async{
        library, "cuMemsetD16Async"};
    EntryPoint<CUresult(CUdeviceptr, unsigned, std::size_t, CUstream)> cuMemsetD32Async{library,
                                                                                        "cuMemsetD32Async"};

    EntryPoint<CUresult(void*, int, CUdeviceptr)> cuPointerGetAttribute{library, "cuPointerGetAttribute",
                                                                        Presence::optional};

    EntryPoint<CUresult(CUstream*, unsigned)> cuStreamCreate{library, "cuStreamCreate"};
    EntryPoint<CUresult(CUstream)> cuStreamDestroy{library, "cuStreamDestroy_v2"};
    EntryPoint<CUresult(CUstream)> cuStreamSynchronize{library, "cuStreamSynchronize"};
    EntryPoint<CUresult(CUstream, CUevent, unsigned)> cuStreamWaitEvent{library, "cuStreamWaitEvent"};
    EntryPoint<CUresult(CUevent*, unsigned)> cuEventCreate{library, "cuEventCreate"};
    EntryPoint<CUresult(CUevent)> cuEventDestroy{library, "cuEventDestroy_v2"};
    EntryPoint<CUresult(CUevent, CUstream)> cuEventRecord{library, "cuEventRecord"};
    EntryPoint<CUresult(CUevent)> cuEventSynchronize{library, "cuEventSynchronize"};
    EntryPoint<CUresult(float*, CUevent, CUevent)> cuEventElapsedTime{library, "cuEventElapsedTime"};

    // The cuLibrary* functions exist since CUDA 12.0, and cuFuncGetParamInfo since 12.4.
    EntryPoint<CUresult(CUlibrary*, const void*, int*, void**, unsigned, int*, void**, unsigned)>
        cuLibraryLoadData{library, "cuLibraryLoadData", Presence::optional};
    EntryPoint<CUresult(CUlibrary)> cuLibraryUnload{library, "cuLibraryUnload", Presence::optional};
    EntryPoint<CUresult(CUkernel*, CUlibrary, const char*)> cuLibraryGetKernel{library, "cuLibraryGetKernel",
                                                                               Presence::optional};
    EntryPoint<CUresult(CUfunction*, CUkernel)> cuKernelGetFunction{library, "cuKernelGetFunction",
                                                                    Presence::optional};
    EntryPoint<CUresult(CUmodule*, const void*, unsigned, int*, void**)> cuModuleLoadDataEx{
        library, "cuModuleLoadDataEx"};
    EntryPoint<CUresult(CUmodule)> cuModuleUnload{library, "cuModuleUnload"};
    EntryPoint<CUresult(CUfunction*, CUmodule, const char*)> cuModuleGetFunction{library,
                                                                                 "cuModuleGetFunction"};
    EntryPoint<CUresult(int*, int, CUfunction)> cuFuncGetAttribute{library, "cuFuncGetAttribute"};
    EntryPoint<CUresult(CUfunction, int, int)> cuFuncSetAttribute{library, "cuFuncSetAttribute"};
    EntryPoint<CUresult(CUfunction, std::size_t, std::size_t*, std::size_t*)> cuFuncGetParamInfo{
        library, "cuFuncGetParamInfo", Presence::optional};
    EntryPoint<CUresult(int*, CUfunction, int, std::size_t)> cuOccupancyMaxActiveBlocksPerMultiprocessor{
        library, "cuOccupancyMaxActiveBlocksPerMultiprocessor"};
    EntryPoint<CUresult(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                        CUstream, void**, void**)>
        cuLaunchKernel{library, "cuLaunchKernel"};

    // Since CUDA 12.0 graphs can hold kernels of libraries.
    EntryPoint<CUresult(CUgraph*, unsigned)> cuGraphCreate{library, "cuGraphCreate"};
    EntryPoint<CUresult(CUgraph)> cuGraphDestroy{library, "cuGraphDestroy"};
    EntryPoint<CUresult(CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t, const CUkernelNodeParams*)>
        cuGraphAddKernelNode{library, "cuGraphAddKernelNode_v2", Presence::optional};
    EntryPoint<CUresult(CUgraphExec*, CUgraph, unsigned long long)> cuGraphInstantiate{
        library, "cuGraphInstantiateWithFlags", Presence::optional};
    EntryPoint<CUresult(CUgraphExec)> cuGraphExecDestroy{library, "cuGraphExecDestroy"};
    EntryPoint<CUresult(CUgraphExec, CUgraphNode, const CUkernelNodeParams*)> cuGraphExecKernelNodeSetParams{
        library, "cuGraphExecKernelNodeSetParams_v2", Presence::optional};
    EntryPoint<CUresult(CUgraphExec, CUstream)> cuGraphUpload{library, "cuGraphUpload", Presence::optional};
    EntryPoint<CUresult(CUgraphExec, CUstream)> cuGraphLaunch{library, "cuGraphLaunch"};
    EntryPoint<CUresult(CUstream, int*)> cuStreamIsCapturing{library, "cuStreamIsCapturing"};
    EntryPoint<CUresult(CUdeviceptr*, std::size_t, CUstream)> cuMemAllocAsync{library, "cuMemAllocAsync",
                                                                              Presence::optional};
    EntryPoint<CUresult(CUdeviceptr, CUstream)> cuMemFreeAsync{library, "cuMemFreeAsync", Presence::optional};
};

/// The functions of NVRTC, from libnvrtc.so.MAJOR.
struct Nvrtc {
    SharedLibrary library;

    EntryPoint<nvrtcResult(int*, int*)> nvrtcVersion{library, "nvrtcVersion"};
    EntryPoint<const char*(nvrtcResult)> nvrtcGetErrorString{library, "nvrtcGetErrorString"};
    EntryPoint<nvrtcResult(int*)> nvrtcGetNumSupportedArchs{library, "nvrtcGetNumSupportedArchs"};
    EntryPoint<nvrtcResult(int*)> nvrtcGetSupportedArchs{library, "nvrtcGetSupportedArchs"};
    EntryPoint<nvrtcResult(nvrtcProgram*, const char*, const char*, int, const char* const*,
                           const char* const*)>
        nvrtcCreateProgram{library, "nvrtcCreateProgram"};
    EntryPoint<nvrtcResult(nvrtcProgram*)> nvrtcDestroyProgram{library, "nvrtcDestroyProgram"};
    EntryPoint<nvrtcResult(nvrtcProgram, int, const char* const*)> nvrtcCompileProgram{library,
                                                                                       "nvrtcCompileProgram"};
    EntryPoint<nvrtcResult(nvrtcProgram, std::size_t*)> nvrtcGetProgramLogSize{library,
                                                                               "nvrtcGetProgramLogSize"};
    EntryPoint<nvrtcResult(nvrtcProgram, char*)> nvrtcGetProgramLog{library, "nvrtcGetProgramLog"};
    EntryPoint<nvrtcResult(nvrtcProgram, std::size_t*)> nvrtcGetCUBINSize{library, "nvrtcGetCUBINSize"};
    EntryPoint<nvrtcResult(nvrtcProgram, char*)> nvrtcGetCUBIN{library, "nvrtcGetCUBIN"};
    EntryPoint<nvrtcResult(nvrtcProgram, std::size_t*)> nvrtcGetPTXSize{library, "nvrtcGetPTXSize"};
    EntryPoint<nvrtcResult(nvrtcProgram, char*)> nvrtcGetPTX{library, "nvrtcGetPTX"};

    /// Returns NVRTC's version, such as "13.0".
    [[nodiscard]] std::string version() const;
};

/// Returns the driver. The first call opens and initialises it (cuInit).
///
/// If the driver cannot be opened, throws DeviceError that names the library and the searched places. A later
/// call tries again.
const Driver& driver();

/// Returns NVRTC. The first call opens it, which takes 8 ms if the file is in the page cache, else 180 ms.
///
/// If NVRTC cannot be opened, throws DeviceError that names the library and the searched places. A later call
/// tries again.
const Nvrtc& nvrtc();

/// Makes nvrtc() search `directory` first. It searches the folder itself, its lib and lib64, and the folders
/// into which pip unpacks NVIDIA's wheels.
///
/// Throws InternalError if NVRTC is already open, because the call would have no effect.
void set_toolkit_directory(const std::filesystem::path& directory);

/// Sets folders of packages, such as Python's, that may have NVRTC. nvrtc() searches them after
/// $SEGFOLD_TOOLKIT. Has no effect once NVRTC is open.
void set_package_places(std::vector<std::filesystem::path> places);

/// Sets the option by which messages tell users to choose the back end cpu, such as `--backend cpu`. Must be
/// called before all other functions. Without this call, messages name SessionOptions.
void set_cpu_option(std::string option);

/// Returns the advice for messages about a missing driver, GPU or compiler.
[[nodiscard]] std::string advice_without_gpu();

/// Returns the places that nvrtc() searches after the folder of set_toolkit_directory(). An empty path means
/// the loader's own search.
///
/// The places are, in order: $SEGFOLD_TOOLKIT, the folders of set_package_places(), the loader's path,
/// $CUDA_HOME/lib64, $CUDA_PATH/lib64, /usr/local/cuda/lib64.
[[nodiscard]] std::vector<std::filesystem::path> nvrtc_places();

/// Returns the files that nvrtc() tries, in order. A bare name means the loader's own search.
[[nodiscard]] std::vector<std::filesystem::path> nvrtc_files();

/// Returns the driver's major CUDA version, even if there is no GPU; 0 if there is no driver.
[[nodiscard]] int driver_major();

/// Opens libcuda.so.1 from the first of `places` that has it. Does not call cuInit.
[[nodiscard]] Driver open_driver(const std::vector<std::filesystem::path>& places);

/// Opens NVRTC from the first of `places` that has it, and its builtins from the same folder. Tries version
/// 13 before 12.
///
/// `driver_major` is the driver's major CUDA version; 0 if there is no driver. In every place, NVRTC versions
/// up to the driver's are tried first, because a driver refuses cubins of a later major version.
[[nodiscard]] Nvrtc open_nvrtc(const std::vector<std::filesystem::path>& places, int driver_major = 0);

/// Throws DeviceError if `result` is not `success`. The message has the call, the error's name and its
/// description.
void check(CUresult result, const char* call,
           const std::source_location& where = std::source_location::current());
void check(nvrtcResult result, const char* call,
           const std::source_location& where = std::source_location::current());

/// Returns a text such as "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered".
[[nodiscard]] std::string describe(CUresult result);

}  // namespace segfold::cuda
