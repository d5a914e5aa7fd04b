#pragma once
// What the compiled file of a text says about itself: shared arrays, global variables, source lines.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace segfold::simt {

/// A variable of a compiled text.
struct Symbol {
    std::string name;         ///< as in the text, followed by its function: "partials of reduce"
    std::uint64_t place = 0;  ///< offset in the thread-local segment, or address before relocation
    std::uint64_t bytes = 0;
};

/// The variables of a shared library.
struct Symbols {
    std::vector<Symbol> shared;      ///< thread-local variables, sorted by place
    std::vector<Symbol> variables;   ///< other variables, sorted by place
    std::uint64_t shared_bytes = 0;  ///< size of the thread-local segment
};

/// Reads the symbol table of an ELF file. Throws DeviceError if the file is not one for this machine.
Symbols read_symbols(const std::string& path);

/// Finds the lines of `text_name` that the code at each of `addresses` comes from.
///
/// The first line is that of the innermost function; the lines of the functions that it is inlined in follow.
/// An element is empty if no line is known. Runs `addr2line`, which is slow: for messages only.
std::vector<std::vector<int>> find_lines(const std::string& library, const std::string& text_name,
                                         std::span<const std::uint64_t> addresses);

}  // namespace segfold::simt
