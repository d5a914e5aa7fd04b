#include "runtime/simt/module.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>

namespace segfold::simt {
namespace {

constexpr std::string_view kAnchor = "__segfold_anchor";

struct Mapping {
    std::uintptr_t base;
    std::size_t bytes = 0;
};

int measure_mapping(dl_phdr_info* info, std::size_t, void* wanted)
{
    auto& mapping = *static_cast<Mapping*>(wanted);
    if (info->dlpi_addr != mapping.base)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; ++i)
        if (info->dlpi_phdr[i].p_type == PT_LOAD)
            mapping.bytes =
                std::max<std::size_t>(mapping.bytes, info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz);
    return 1;
}

}  // namespace

Module::Module(std::string library, std::string text_name, std::span<const std::string> kernels, bool checked)
    : library_(std::move(library)), text_name_(std::move(text_name)), checked_(checked)
{
    symbols_ = read_symbols(library_);
    handle_ = dlopen(library_.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) {
        const char* reason = dlerror();
        throw DeviceError("simt: cannot load the compiled text " + library_ + ": " +
                          (reason ? reason : "unknown"));
    }
    for (const std::string& name : kernels)
        kernels_[name] = {reinterpret_cast<KernelEntry>(find("__segfold_entry_" + name)),
                          reinterpret_cast<unsigned (*)()>(find("__segfold_parameters_" + name))(),
                          reinterpret_cast<unsigned (*)()>(find("__segfold_cluster_of_" + name))()};
    reinterpret_cast<void (*)(const SegfoldHooks*)>(find("__segfold_connect"))(&executor_hooks());
    anchor_address_ = reinterpret_cast<void* (*)()>(find("__segfold_anchor_address"));

    const auto anchor = std::find_if(symbols_.shared.begin(), symbols_.shared.end(),
                                     [](const Symbol& symbol) { return symbol.name == kAnchor; });
    if (anchor == symbols_.shared.end())
        throw InternalError("simt: no anchor among the thread-local symbols of " + library_);
    anchor_place_ = anchor->place;
    symbols_.shared.erase(anchor);

    Dl_info info{};
    dladdr(reinterpret_cast<void*>(anchor_address_), &info);
    Mapping mapping{reinterpret_cast<std::uintptr_t>(info.dli_fbase)};
    dl_iterate_phdr(measure_mapping, &mapping);
    base_ = mapping.base;
    mapped_bytes_ = mapping.bytes;
}

Module::~Module()
{
    if (handle_ != nullptr)
        dlclose(handle_);
    unlink(library_.c_str());
}

void* Module::find(const std::string& symbol) const
{
    void* address = dlsym(handle_, symbol.c_str());
    if (address == nullptr)
        throw InternalError("simt: the compiled text lacks " + symbol);
    return address;
}

const Module::Kernel& Module::kernel(const std::string& name) const
{
    const auto place = kernels_.find(name);
    if (place != kernels_.end())
        return place->second;
    std::string known;
    for (const auto& [other, kernel] : kernels_)
        known += (known.empty() ? "" : ", ") + other;
    throw InputError("simt: no kernel '" + name + "'; the program was compiled with " + known);
}

std::byte* Module::shared_memory() const
{
    return static_cast<std::byte*>(anchor_address_()) - anchor_place_;
}

std::vector<std::vector<int>> Module::lines(std::span<const std::uint64_t> addresses) const
{
    return find_lines(library_, text_name_, addresses);
}

}  // namespace segfold::simt
