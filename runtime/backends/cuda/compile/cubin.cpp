#include "runtime/backends/cuda/compile/cubin.h"

#include <elf.h>

#include <cstring>
#include <string_view>

#include "dsl/error.h"

namespace segfold::cuda {
namespace {

constexpr std::int64_t kInstructionBytes = 16;
constexpr std::string_view kCode = ".text.";

/// Copies the value at `offset`. Throws DeviceError if the value extends past the image's end, as in a
/// damaged image.
template <class T>
T read(std::span<const char> image, std::uint64_t offset)
{
    if (offset > image.size() || image.size() - offset < sizeof(T))
        throw DeviceError("the cubin ends before what its headers speak of");
    T value;
    std::memcpy(&value, image.data() + offset, sizeof(T));
    return value;
}

std::string name_at(std::span<const char> image, const Elf64_Shdr& names, std::uint64_t offset)
{
    const std::uint64_t begin = names.sh_offset + offset;
    if (begin >= image.size())
        throw DeviceError("the cubin has a section whose name lies outside of it");
    const auto text = std::string_view(image.data() + begin, image.size() - begin);
    return std::string(text.substr(0, text.find('\0')));
}

}  // namespace

std::map<std::string, std::int64_t> instruction_counts(std::span<const char> cubin)
{
    const auto header = read<Elf64_Ehdr>(cubin, 0);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
        throw DeviceError("the compiler's image is no ELF file of 64 bits");
    const auto section = [&](std::uint64_t i) {
        return read<Elf64_Shdr>(cubin, header.e_shoff + i * sizeof(Elf64_Shdr));
    };
    const auto names = section(header.e_shstrndx);
    std::map<std::string, std::int64_t> counts;
    for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
        const auto here = section(i);
        const auto name = name_at(cubin, names, here.sh_name);
        if (name.starts_with(kCode))
            counts[name.substr(kCode.size())] = static_cast<std::int64_t>(here.sh_size) / kInstructionBytes;
    }
    return counts;
}

}  // namespace segfold::cuda
