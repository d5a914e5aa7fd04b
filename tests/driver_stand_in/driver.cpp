// A libcuda.so.1 for machines without a GPU. Memory is the host's; copies and fills are carried out at once;
// kernels are not run.
//
// Every call that moves data or queues work is a line of the file that SEGFOLD_DRIVER_LOG names. An address
// is the number of its allocation and an offset, so the logs of two processes can be compared.
#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#define ENTRY extern "C" [[gnu::visibility("default")]] int

namespace {

using Address = std::uint64_t;

enum Result { success = 0, invalid_value = 1, out_of_memory = 2, no_context = 201, not_found = 500 };

constexpr std::size_t kMemoryBytes = std::size_t{2} << 30;
constexpr std::size_t kAlignment = 512;

struct Kernel {
    std::string name;
    std::vector<std::size_t> parameter_bytes;
};
using Library = std::map<std::string, Kernel>;
struct Stream {
    int number;
    bool is_captured;
};
/// The beginning of CUDA_KERNEL_NODE_PARAMS.
struct Launch {
    Kernel* kernel;
    unsigned grid[3], block[3], shared_bytes;
    void** arguments;
};
/// The launches of a graph, as lines of the log.
using Graph = std::deque<std::string>;
struct Allocation {
    int number;
    std::size_t bytes;
};

std::recursive_mutex mutex;
std::map<Address, Allocation> memory;
std::size_t bytes_in_use = 0;
int num_allocations = 0, num_streams = 0, num_events = 0;
thread_local std::vector<void*> contexts;

template <class... Values>
std::string text(const char* format, Values... values)
{
    char line[200];
    std::snprintf(line, sizeof line, format, values...);
    return line;
}

int log(const std::string& line)
{
    static std::FILE* const file = [] {
        const char* const name = std::getenv("SEGFOLD_DRIVER_LOG");
        return name != nullptr ? std::fopen(name, "a") : nullptr;
    }();
    if (contexts.empty())
        return no_context;
    const std::lock_guard lock(mutex);
    if (file != nullptr) {
        std::fprintf(file, "%s\n", line.c_str());
        std::fflush(file);
    }
    return success;
}

/// Shows an address of the device as "m3+64"; empty for other values. Allocations stand apart, so an address
/// may also be an allocation's end.
std::string place(Address address)
{
    const std::lock_guard lock(mutex);
    auto found = memory.upper_bound(address);
    if (found == memory.begin() || address > (--found)->first + found->second.bytes)
        return {};
    const auto offset = static_cast<unsigned long long>(address - found->first);
    return text(offset == 0 ? "m%d" : "m%d+%llu", found->second.number, offset);
}

std::string on(const Stream* stream) { return text(" on s%d", stream == nullptr ? 0 : stream->number); }

/// Shows an argument: addresses by place(), all else as words of 32 bits.
std::string shown(const char* bytes, std::size_t count)
{
    std::string all;
    for (std::size_t at = 0; at < count;) {
        Address address = 0;
        std::uint32_t word = 0;
        if (at % 8 == 0 && count - at >= 8)
            std::memcpy(&address, bytes + at, 8);
        std::memcpy(&word, bytes + at, std::min<std::size_t>(count - at, 4));
        const auto device = place(address);
        all += (at == 0 ? "" : " ") + (device.empty() ? std::to_string(word) : device);
        at += device.empty() ? 4 : 8;
    }
    return all;
}

std::string shown(const Launch& launch)
{
    auto line =
        launch.kernel->name + text(" <<<%u, %u, %u>>>", launch.grid[0], launch.block[0], launch.shared_bytes);
    for (std::size_t i = 0; i < launch.kernel->parameter_bytes.size(); ++i)
        line += " [" +
                shown(static_cast<const char*>(launch.arguments[i]), launch.kernel->parameter_bytes[i]) + "]";
    return line;
}

int allocate(Address* address, std::size_t bytes, const std::string& how)
{
    const std::lock_guard lock(mutex);
    if (bytes_in_use + bytes > kMemoryBytes)
        return out_of_memory;
    // One more unit, so that no allocation begins where another one ends.
    auto* const made = std::aligned_alloc(kAlignment, (bytes / kAlignment + 2) * kAlignment);
    std::memset(made, 0xa5, bytes);
    *address = reinterpret_cast<Address>(made);
    memory[*address] = {++num_allocations, bytes};
    bytes_in_use += bytes;
    return log(text("new m%d: %zu bytes", num_allocations, bytes) + how);
}

int release(Address address, const std::string& how)
{
    const std::lock_guard lock(mutex);
    const auto found = memory.find(address);
    if (found == memory.end())
        return invalid_value;
    const auto line = "free " + place(address) + how;
    bytes_in_use -= found->second.bytes;
    memory.erase(found);
    std::free(reinterpret_cast<void*>(address));
    return log(line);
}

template <class To, class From>
int copy(To to, From from, std::size_t bytes, const std::string& how = {})
{
    const auto side = [](Address address) {
        const auto device = place(address);
        return device.empty() ? "host" : device;
    };
    std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
    return log("copy " + side(reinterpret_cast<Address>(from)) + " -> " +
               side(reinterpret_cast<Address>(to)) + text(": %zu bytes", bytes) + how);
}

template <class Word>
int fill(Address to, Word word, std::size_t count, const std::string& how = {})
{
    std::fill_n(reinterpret_cast<Word*>(to), count, word);
    return log("fill " + place(to) + text(": %zu x %zu bytes 0x%x", count, sizeof word, unsigned{word}) +
               how);
}

/// Reads the kernels of a cubin and their parameters: section ".nv.info.KERNEL" has a record for each.
Library read(const char* image)
{
    Library library;
    Elf64_Ehdr header;
    std::memcpy(&header, image, sizeof header);
    std::vector<Elf64_Shdr> sections(header.e_shnum);
    std::memcpy(sections.data(), image + header.e_shoff, sections.size() * sizeof(Elf64_Shdr));
    const std::string prefix = ".nv.info.";
    for (const auto& section : sections) {
        const std::string name = image + sections[header.e_shstrndx].sh_offset + section.sh_name;
        if (name.compare(0, prefix.size(), prefix) != 0)
            continue;
        auto& kernel = library[name.substr(prefix.size())];
        kernel.name = name.substr(prefix.size());
        const auto* at = image + section.sh_offset;
        for (const auto* const end = at + section.sh_size; at < end;) {
            constexpr char kSized = 4, kParameter = 0x17;
            std::uint16_t size = 0, ordinal = 0;
            std::uint32_t bits = 0;
            std::memcpy(&size, at + 2, sizeof size);
            if (at[0] == kSized && at[1] == kParameter) {
                std::memcpy(&ordinal, at + 8, sizeof ordinal);
                std::memcpy(&bits, at + 12, sizeof bits);
                kernel.parameter_bytes.resize(
                    std::max<std::size_t>(kernel.parameter_bytes.size(), ordinal + 1));
                kernel.parameter_bytes[ordinal] = bits >> 18;
            }
            at += at[0] == kSized ? 4 + size : 4;
        }
    }
    return library;
}

template <class Value, class Given>
int give(Value* value, Given given)
{
    *value = given;
    return success;
}

}  // namespace

ENTRY cuInit(unsigned) { return success; }
ENTRY cuDriverGetVersion(int* version) { return give(version, 13000); }
ENTRY cuGetErrorName(int, const char** name) { return give(name, "STAND_IN"); }
ENTRY cuGetErrorString(int, const char** description) { return give(description, "refused by the stand-in"); }

ENTRY cuDeviceGetCount(int* count) { return give(count, 1); }
ENTRY cuDeviceGet(int* device, int ordinal) { return give(device, ordinal); }
ENTRY cuDeviceGetName(char* name, int, int) { return std::strcpy(name, "stand-in"), success; }
ENTRY cuDeviceGetPCIBusId(char* name, int, int) { return std::strcpy(name, "0000:00:00.0"), success; }
ENTRY cuDeviceTotalMem_v2(std::size_t* bytes, int) { return give(bytes, kMemoryBytes); }
ENTRY cuDeviceGetAttribute(int* value, int attribute, int)
{
    // An H200's, by the numbers of CUdevice_attribute.
    static const std::map<int, int> values = {{1, 1024},     {8, 49152},   {13, 1980000}, {16, 132},
                                              {36, 3201000}, {37, 6144},   {38, 6291456}, {39, 2048},
                                              {75, 9},       {76, 0},      {81, 233472},  {82, 65536},
                                              {95, 1},       {97, 232448}, {106, 32},     {111, 1024}};
    const auto found = values.find(attribute);
    return found == values.end() ? invalid_value : give(value, found->second);
}

ENTRY cuDevicePrimaryCtxRetain(void** context, int) { return give(context, &memory); }
ENTRY cuDevicePrimaryCtxRelease_v2(int) { return success; }
ENTRY cuCtxPushCurrent_v2(void* context) { return contexts.push_back(context), success; }
ENTRY cuCtxPopCurrent_v2(void** context)
{
    if (contexts.empty())
        return no_context;
    *context = contexts.back();
    return contexts.pop_back(), success;
}
ENTRY cuCtxSynchronize() { return success; }

ENTRY cuMemGetInfo_v2(std::size_t* free_bytes, std::size_t* total)
{
    const std::lock_guard lock(mutex);
    *free_bytes = kMemoryBytes - bytes_in_use;
    return give(total, kMemoryBytes);
}
ENTRY cuMemAlloc_v2(Address* address, std::size_t bytes) { return allocate(address, bytes, ""); }
ENTRY cuMemFree_v2(Address address) { return release(address, ""); }
ENTRY cuMemAllocAsync(Address* address, std::size_t bytes, Stream* s)
{
    return allocate(address, bytes, on(s));
}
ENTRY cuMemFreeAsync(Address address, Stream* s) { return release(address, on(s)); }
ENTRY cuMemHostAlloc(void** host, std::size_t bytes, unsigned) { return give(host, std::malloc(bytes)); }
ENTRY cuMemFreeHost(void* host) { return std::free(host), success; }

#define COPY(name, To, From)                                                       \
    ENTRY name##_v2(To to, From from, std::size_t n) { return copy(to, from, n); } \
    ENTRY name##Async_v2(To to, From from, std::size_t n, Stream* s) { return copy(to, from, n, on(s)); }
COPY(cuMemcpyHtoD, Address, const void*)
COPY(cuMemcpyDtoH, void*, Address)
COPY(cuMemcpyDtoD, Address, Address)

#define FILL(name, Word)                                                                \
    ENTRY name##_v2(Address to, Word word, std::size_t n) { return fill(to, word, n); } \
    ENTRY name##Async(Address to, Word word, std::size_t n, Stream* s) { return fill(to, word, n, on(s)); }
FILL(cuMemsetD8, std::uint8_t)
FILL(cuMemsetD16, std::uint16_t)
FILL(cuMemsetD32, std::uint32_t)

ENTRY cuStreamCreate(Stream** stream, unsigned) { return give(stream, new Stream{++num_streams, false}); }
ENTRY cuStreamDestroy_v2(Stream* stream) { return delete stream, success; }
ENTRY cuStreamSynchronize(Stream* stream) { return log("wait" + on(stream)); }
ENTRY cuStreamWaitEvent(Stream* s, int* event, unsigned) { return log(text("await e%d", *event) + on(s)); }
ENTRY cuStreamBeginCapture_v2(Stream* stream, int) { return give(&stream->is_captured, true); }
ENTRY cuStreamEndCapture(Stream* stream, Graph**) { return give(&stream->is_captured, false); }
ENTRY cuStreamIsCapturing(Stream* s, int* state)
{
    return give(state, s != nullptr && s->is_captured ? 1 : 0);
}
ENTRY cuEventCreate(int** event, unsigned) { return give(event, new int(++num_events)); }
ENTRY cuEventDestroy_v2(int* event) { return delete event, success; }
ENTRY cuEventRecord(int* event, Stream* s) { return log(text("record e%d", *event) + on(s)); }
ENTRY cuEventSynchronize(int*) { return success; }
ENTRY cuEventElapsedTime(float* milliseconds, int*, int*) { return give(milliseconds, 1.0f); }

// Drivers that have libraries are asked for no modules.
ENTRY cuModuleLoadDataEx() { return not_found; }
ENTRY cuModuleUnload() { return not_found; }
ENTRY cuModuleGetFunction() { return not_found; }
ENTRY cuLibraryLoadData(Library** library, const char* image, int*, void**, unsigned, int*, void**, unsigned)
{
    return give(library, new Library(read(image)));
}
ENTRY cuLibraryUnload(Library* library) { return delete library, success; }
ENTRY cuLibraryGetKernel(Kernel** kernel, Library* library, const char* name)
{
    const auto found = library->find(name);
    return found == library->end() ? not_found : give(kernel, &found->second);
}
ENTRY cuKernelGetFunction(Kernel** function, Kernel* kernel) { return give(function, kernel); }
ENTRY cuFuncGetAttribute(int* value, int attribute, Kernel*)
{
    constexpr int kMostThreads = 0, kRegisters = 4;
    return give(value, attribute == kMostThreads ? 1024 : attribute == kRegisters ? 32 : 0);
}
ENTRY cuFuncSetAttribute(Kernel*, int, int) { return success; }
ENTRY cuFuncGetParamInfo(Kernel* kernel, std::size_t i, std::size_t*, std::size_t* bytes)
{
    return i < kernel->parameter_bytes.size() ? give(bytes, kernel->parameter_bytes[i]) : invalid_value;
}
ENTRY cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel*, int threads, std::size_t)
{
    return give(blocks, 2048 / threads);
}
ENTRY cuLaunchKernel(Kernel* kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                     unsigned bz, unsigned shared_bytes, Stream* s, void** arguments, void**)
{
    return log("launch " + shown({kernel, {gx, gy, gz}, {bx, by, bz}, shared_bytes, arguments}) + on(s));
}

ENTRY cuGraphCreate(Graph** graph, unsigned) { return give(graph, new Graph); }
ENTRY cuGraphDestroy(Graph* graph) { return delete graph, success; }
ENTRY cuGraphAddKernelNode_v2(std::string** node, Graph* graph, void*, std::size_t, const Launch* launch)
{
    return give(node, &graph->emplace_back(shown(*launch)));
}
ENTRY cuGraphInstantiateWithFlags(Graph** executable, Graph* graph, std::uint64_t)
{
    return give(executable, graph);
}
ENTRY cuGraphExecDestroy(Graph*) { return success; }
ENTRY cuGraphExecKernelNodeSetParams_v2(Graph*, std::string* node, const Launch* launch)
{
    return give(node, shown(*launch));
}
ENTRY cuGraphUpload(Graph*, Stream*) { return success; }
ENTRY cuGraphLaunch(Graph* graph, Stream* s)
{
    for (const auto& line : *graph)
        if (const int result = log("in graph: " + line + on(s)); result != success)
            return result;
    return success;
}
