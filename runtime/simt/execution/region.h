#pragma once
// Addresses of device buffers. All buffers lie in one reserved range, so that two loads find the buffer of an
// address.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "runtime/simt/execution/shadow.h"

namespace segfold::simt {

/// One live buffer.
struct Region {
    std::string name;
    std::byte* base = nullptr;
    std::size_t bytes = 0;
    std::size_t first_page = 0;
    std::size_t pages = 0;
    std::unique_ptr<Shadow> shadow;
};

constexpr unsigned kArenaPageBits = 16;

/// Returns a buffer's name as messages show it: in quotes, except if the name itself ends with a quote, like
/// "the input 'scale'".
inline std::string shown_name(const std::string& name)
{
    return name.ends_with('\'') ? name : "'" + name + "'";
}

/// The reserved range of addresses. `pages` holds the buffer to which each page belongs; null for a page
/// between buffers.
struct Arena {
    std::uintptr_t base = 0;
    std::size_t bytes = 0;
    Region** pages = nullptr;
};

/// The process's arena; empty until the first buffer is made.
extern Arena arena;

/// Returns the buffer to which the page of `address` belongs; null if there is none. `address` may lie past
/// the buffer's end.
inline Region* region_at(std::uintptr_t address)
{
    const std::uintptr_t offset = address - arena.base;
    return offset < arena.bytes ? arena.pages[offset >> kArenaPageBits] : nullptr;
}

/// Name and size of the live buffer nearest to an address, for messages.
struct Neighbour {
    bool found = false;
    std::string name;
    std::size_t bytes = 0;
    std::ptrdiff_t offset = 0;  ///< `address` minus the address of the buffer's first byte
};
Neighbour nearest_buffer(std::uintptr_t address);

}  // namespace segfold::simt
