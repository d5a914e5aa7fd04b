#include "runtime/backends/cuda/driver/module.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>

#include "dsl/error.h"

namespace segfold::cuda {
namespace {

// The values of CUfunction_attribute that are used here.
enum class FunctionAttribute : int {
    preferred_shared_carveout = 9,
    max_threads_per_block = 0,
    static_shared_bytes = 1,
    local_bytes = 3,
    registers = 4,
    max_dynamic_shared_bytes = 8,
};

// Limits of every device since compute capability 3.0 (CUDA C++ Programming Guide, "Compute Capabilities").
constexpr Extent kMaxGrid = {2147483647, 65535, 65535};
constexpr Extent kMaxBlock = {1024, 1024, 64};

int attribute(CUfunction function, FunctionAttribute which)
{
    int value = 0;
    check(driver().cuFuncGetAttribute(&value, static_cast<int>(which), function), "cuFuncGetAttribute");
    return value;
}

// Returns the sizes in bytes of a kernel's parameters; nothing if the driver cannot report them.
std::optional<std::vector<std::size_t>> parameter_sizes(CUfunction function)
{
    if (!driver().cuFuncGetParamInfo)
        return std::nullopt;
    std::vector<std::size_t> sizes;
    std::size_t offset = 0;
    std::size_t size = 0;
    while (driver().cuFuncGetParamInfo(function, sizes.size(), &offset, &size) == CUresult::success)
        sizes.push_back(size);
    return sizes;
}

bool exceeds(const Extent& extent, const Extent& limit)
{
    return extent.x > limit.x || extent.y > limit.y || extent.z > limit.z;
}

std::string show(const Extent& extent) { return fmt::format("{} x {} x {}", extent.x, extent.y, extent.z); }

unsigned narrow(std::uint64_t value) { return static_cast<unsigned>(value); }

std::string kernel_names(const std::vector<KernelResources>& kernels)
{
    std::string names;
    for (const KernelResources& kernel : kernels)
        names += (names.empty() ? "" : ", ") + kernel.kernel;
    return names;
}

// Returns the reason why an image does not load. Mostly it is for another architecture, which only the driver
// can tell. So the message names image and device.
std::string load_failure(const std::string& name, const Context& context, CUresult result)
{
    const DeviceInfo& info = context.info();
    return fmt::format("{} does not load on {} ({}, driver for CUDA {}.{}): {}", name, info.name,
                       info.architecture(), info.driver_version / 1000, info.driver_version % 1000 / 10,
                       describe(result));
}

}  // namespace

Arguments& Arguments::add_bytes(std::span<const std::byte> value)
{
    append(value.data(), value.size(), alignof(Unit));
    return *this;
}

void Arguments::append(const void* value, std::size_t bytes, std::size_t alignment)
{
    if (alignment > alignof(Unit))
        throw InternalError(fmt::format("Arguments: alignment {} exceeds {}", alignment, alignof(Unit)));
    std::vector<Unit>& units = values_.emplace_back((bytes + sizeof(Unit) - 1) / sizeof(Unit));
    if (bytes != 0)
        std::memcpy(units.data(), value, bytes);
    sizes_.push_back(bytes);
}

void** Arguments::pointers()
{
    pointers_.clear();
    for (std::vector<Unit>& value : values_)
        pointers_.push_back(value.data());
    return pointers_.data();
}

// Code on a GPU. It is a CUlibrary, which belongs to no context, if the driver has cuLibrary functions, as in
// the CUDA runtime since 12.0. Else it is a CUmodule of one context.
struct LoadedImage {
    LoadedImage(const Context& owner, const Compiled& compiled, std::string title)
        : context(owner),
          name(std::move(title)),
          kernels(compiled.resources),
          kernel_prefix(compiled.kernel_prefix)
    {
        const CurrentContext current(context);
        const CUresult result =
            driver().cuLibraryLoadData && driver().cuKernelGetFunction
                ? driver().cuLibraryLoadData(&library, compiled.cubin.data(), nullptr, nullptr, 0, nullptr,
                                             nullptr, 0)
                : driver().cuModuleLoadDataEx(&module, compiled.cubin.data(), 0, nullptr, nullptr);
        if (result != CUresult::success)
            throw DeviceError(load_failure(name, context, result));
    }
    ~LoadedImage()
    {
        try {
            const CurrentContext current(context);
            if (library)
                driver().cuLibraryUnload(library);
            if (module)
                driver().cuModuleUnload(module);
        } catch (const DeviceError&) {
            // If a kernel's failure has ended the context, the code is already unloaded.
        }
    }
    LoadedImage(const LoadedImage&) = delete;
    LoadedImage& operator=(const LoadedImage&) = delete;

    CUresult find(const std::string& kernel, CUfunction& function) const
    {
        const CurrentContext current(context);
        const std::string symbol = kernel_prefix + kernel;
        if (module)
            return driver().cuModuleGetFunction(&function, module, symbol.c_str());
        CUkernel handle = nullptr;
        const CUresult result = driver().cuLibraryGetKernel(&handle, library, symbol.c_str());
        return result != CUresult::success ? result : driver().cuKernelGetFunction(&function, handle);
    }

    // Returns the kernel's static shared memory in bytes. Prefers ptxas's value, because the driver's value
    // may include memory that the system reserves in every block.
    int static_shared_bytes(const std::string& kernel, CUfunction function) const
    {
        const auto known = std::ranges::find(kernels, kernel, &KernelResources::kernel);
        return known != kernels.end() ? known->static_shared_bytes
                                      : attribute(function, FunctionAttribute::static_shared_bytes);
    }

    Context context;
    std::string name;
    std::vector<KernelResources> kernels;
    std::string kernel_prefix;
    CUlibrary library = nullptr;
    CUmodule module = nullptr;
};

struct Kernel::State {
    std::shared_ptr<const LoadedImage> image;
    std::string name;
    CUfunction function = nullptr;
    std::optional<std::vector<std::size_t>> parameters;
    std::size_t static_shared_bytes = 0;
    int max_block_threads = 0;
    /// Largest number of dynamic shared bytes allowed so far; 0 before the first request.
    mutable std::atomic<std::size_t> allowed_shared_bytes = 0;

    [[nodiscard]] const DeviceInfo& info() const { return image->context.info(); }

    void check_shape(const LaunchShape& shape) const
    {
        if (exceeds(shape.grid, kMaxGrid))
            throw DeviceError(fmt::format("kernel {}: a grid of {} blocks; at most {} are possible", name,
                                          show(shape.grid), show(kMaxGrid)));
        const Extent& block = shape.block;
        if (exceeds(block, kMaxBlock) || block.x * block.y * block.z == 0 ||
            block.x * block.y * block.z > static_cast<std::uint64_t>(max_block_threads))
            throw DeviceError(
                fmt::format("kernel {}: a block of {} threads; 1 to {} are possible for this kernel", name,
                            show(block), max_block_threads));
        const std::size_t limit = info().shared_per_block_optin;
        if (shape.dynamic_shared_bytes + static_shared_bytes > limit)
            throw DeviceError(
                fmt::format("kernel {}: {} bytes of dynamic and {} of static shared memory a block; {} "
                            "has {}",
                            name, shape.dynamic_shared_bytes, static_shared_bytes, info().name, limit));
    }

    /// Allows each block `dynamic_bytes` bytes of dynamic shared memory. The context must be current.
    void allow_shared(std::uint64_t block_threads, std::size_t dynamic_bytes) const
    {
        if (dynamic_bytes <= allowed_shared_bytes && allowed_shared_bytes != 0)
            return;
        // Below the default limit shared_per_block no request is needed.
        if (dynamic_bytes + static_shared_bytes > info().shared_per_block)
            check(driver().cuFuncSetAttribute(function,
                                              static_cast<int>(FunctionAttribute::max_dynamic_shared_bytes),
                                              static_cast<int>(dynamic_bytes)),
                  "cuFuncSetAttribute");
        // If blocks need much shared memory, the driver often gives too small a part of the first-level cache
        // to shared memory. Then fewer blocks are resident than could be.
        constexpr std::size_t kMuchShared = 8 * 1024;
        if (dynamic_bytes + static_shared_bytes >= kMuchShared)
            share_cache(block_threads, dynamic_bytes);
        allowed_shared_bytes = std::max<std::size_t>(dynamic_bytes, 1);
    }

    /// Requests as much of the first-level cache for shared memory as the resident blocks need; the rest
    /// serves reads of tables. It is a hint, so refusals are ignored.
    void share_cache(std::uint64_t block_threads, std::size_t dynamic_bytes) const
    {
        constexpr int kAllShared = 100;
        constexpr std::size_t kReserved = 1024;  // bytes that the system uses in each block
        const auto set = [&](int percent) {
            driver().cuFuncSetAttribute(
                function, static_cast<int>(FunctionAttribute::preferred_shared_carveout), percent);
        };
        set(kAllShared);
        int blocks = 0;
        const auto result = driver().cuOccupancyMaxActiveBlocksPerMultiprocessor(
            &blocks, function, static_cast<int>(block_threads), dynamic_bytes);
        if (result != CUresult::success || info().shared_per_multiprocessor == 0)
            return;
        const auto needed =
            static_cast<std::size_t>(blocks) * (dynamic_bytes + static_shared_bytes + kReserved);
        const auto whole = info().shared_per_multiprocessor;
        set(static_cast<int>(std::min<std::size_t>((100 * needed + whole - 1) / whole, kAllShared)));
    }

    void check_arguments(std::span<const std::size_t> sizes) const
    {
        if (!parameters)
            return;
        if (sizes.size() != parameters->size())
            throw InternalError(
                fmt::format("kernel {}: {} arguments; it takes {}", name, sizes.size(), parameters->size()));
        for (std::size_t i = 0; i < parameters->size(); ++i)
            if (sizes[i] != (*parameters)[i])
                throw InternalError(fmt::format("kernel {}: argument {} has {} bytes; the parameter has {}",
                                                name, i, sizes[i], (*parameters)[i]));
    }
};

const std::string& Kernel::name() const { return state_->name; }

void Kernel::launch(Stream& stream, const LaunchShape& shape, Arguments& arguments) const
{
    state_->check_arguments(arguments.sizes());
    launch(stream, shape, arguments.pointers());
}

void Kernel::check_arguments(std::span<const std::size_t> sizes) const { state_->check_arguments(sizes); }

void Kernel::launch(Stream& stream, const LaunchShape& shape, void** arguments) const
{
    launch(stream.handle(), shape, arguments);
    if (shape.grid.x != 0 && shape.grid.y != 0 && shape.grid.z != 0)
        stream.note_launch(name());
}

void Kernel::launch(CUstream stream, const LaunchShape& shape, void** arguments) const
{
    state_->check_shape(shape);
    if (shape.grid.x == 0 || shape.grid.y == 0 || shape.grid.z == 0)
        return;
    const CurrentContext current(state_->image->context);
    state_->allow_shared(shape.block.x * shape.block.y * shape.block.z, shape.dynamic_shared_bytes);
    queue(stream, shape, arguments);
}

void Kernel::allow(const LaunchShape& shape) const
{
    state_->check_shape(shape);
    const CurrentContext current(state_->image->context);
    state_->allow_shared(shape.block.x * shape.block.y * shape.block.z, shape.dynamic_shared_bytes);
}

CUfunction Kernel::handle() const { return state_->function; }

void Kernel::queue(CUstream stream, const LaunchShape& shape, void** arguments) const
{
    const auto& [grid, block, shared_bytes] = shape;
    const CUresult result = driver().cuLaunchKernel(
        state_->function, narrow(grid.x), narrow(grid.y), narrow(grid.z), narrow(block.x), narrow(block.y),
        narrow(block.z), narrow(shared_bytes), stream, arguments, nullptr);
    if (result != CUresult::success)
        throw DeviceError(
            fmt::format("kernel {} cannot be launched with a grid of {}, blocks of {} and {} bytes of "
                        "dynamic shared memory: {}",
                        name(), show(grid), show(block), shared_bytes, describe(result)));
}

KernelResources Kernel::resources() const
{
    const CurrentContext current(state_->image->context);
    return {.kernel = name(),
            .registers = attribute(state_->function, FunctionAttribute::registers),
            .stack_bytes = attribute(state_->function, FunctionAttribute::local_bytes),
            .static_shared_bytes = attribute(state_->function, FunctionAttribute::static_shared_bytes)};
}

int Kernel::max_block_threads() const { return state_->max_block_threads; }

int Kernel::resident_blocks(int block_threads, std::size_t dynamic_shared_bytes) const
{
    const CurrentContext current(state_->image->context);
    state_->allow_shared(static_cast<std::uint64_t>(block_threads), dynamic_shared_bytes);
    int blocks = 0;
    check(driver().cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, state_->function, block_threads,
                                                               dynamic_shared_bytes),
          "cuOccupancyMaxActiveBlocksPerMultiprocessor");
    return blocks;
}

Module::Module(const Context& context, const Compiled& compiled, std::string name)
    : image_(std::make_shared<const LoadedImage>(context, compiled, std::move(name)))
{}

Kernel Module::kernel(const std::string& name) const
{
    CUfunction function = nullptr;
    const CUresult result = image_->find(name, function);
    if (result == CUresult::not_found)
        throw DeviceError(
            fmt::format("{} has no kernel {}; it has {}", image_->name, name,
                        image_->kernels.empty() ? "none that is known" : kernel_names(image_->kernels)));
    check(result, "cuLibraryGetKernel");
    const CurrentContext current(image_->context);
    auto kernel = std::make_shared<Kernel::State>();
    kernel->image = image_;
    kernel->name = name;
    kernel->function = function;
    kernel->parameters = parameter_sizes(function);
    kernel->static_shared_bytes =
        static_cast<std::size_t>(attribute(function, FunctionAttribute::static_shared_bytes));
    kernel->max_block_threads = attribute(function, FunctionAttribute::max_threads_per_block);
    return Kernel(std::move(kernel));
}

}  // namespace segfold::cuda
