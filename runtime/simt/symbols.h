#pragma once
// Facts in a compiled text's file: its shared arrays, its global variables, its lines.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace segfold::simt {

/// A variable of a compiled text.
struct Symbol {
    std::string name;         ///< the name in the text, with its function: "partials of reduce"
    std::uint64_t place = 0;  ///< offset in the thread-local segment, or address before relocation
    std::uint64_t bytes = 0;
};

/// The variables of a shared library.
struct Symbols {
    std::vector<Symbol> shared;      ///< thread-local variables, by place
    std::vector<Symbol> variables;   ///< all other variables, by place
    std::uint64_t shared_bytes = 0;  ///< size of the thread-local segment
};

/// Reads the symbol table of an ELF file. Throws DeviceError if it is not an ELF file for this machine.
Symbols read_symbols(const std::string& path);

/// Returns the lines of `text_name` from which the code at each of `addresses` comes: the line in the
/// innermost function, then the lines in the functions into which it is inlined. A list is empty if the lines
/// are unknown.
///
/// Runs `addr2line`, which is slow, so only messages should call it.
std::vector<std::vector<int>> find_lines(const std::string& library, const std::string& text_name,
                                         std::span<const std::uint64_t> addresses);

}  // namespace segfold::simt
