#include "dsl/array.h"

#include <cstdint>
#include <limits>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace segfold {
namespace {

constexpr std::size_t kLargePage = std::size_t{2} << 20;

/// Advises the system to use pages of 2 MiB inside `memory`, wherever a whole page fits. With 4 KiB pages, a
/// fold spends up to a third of its time on address translation. NumPy does the same.
void ask_for_large_pages(std::byte* memory, std::size_t bytes)
{
#if defined(__linux__)
    const auto misplaced = reinterpret_cast<std::uintptr_t>(memory) % kLargePage;
    const auto before = misplaced == 0 ? 0 : kLargePage - misplaced;
    if (bytes < before + kLargePage)
        return;
    // If the system refuses, small pages remain.
    (void)madvise(memory + before, (bytes - before) / kLargePage * kLargePage, MADV_HUGEPAGE);
#else
    (void)memory;
    (void)bytes;
#endif
}

/// Returns the size of an array in bytes. Throws InputError if the size does not fit into 64 bits; a wrapped
/// size would allocate too little memory.
std::size_t bytes_of(Type type, std::size_t length)
{
    if (length > std::numeric_limits<std::size_t>::max() / size_bytes(type))
        throw InputError("an array of " + std::to_string(length) + " values of " + std::string(name(type)) +
                         " has more bytes than 64 bits count; take fewer elements");
    return length * size_bytes(type);
}

}  // namespace

Array::Array(Type type, std::size_t length)
    : type_(type), length_(length), owned_(new std::byte[bytes_of(type, length)]), data_(owned_.get())
{
    if (bytes() >= 2 * kLargePage)
        ask_for_large_pages(data_, bytes());
}

}  // namespace segfold
