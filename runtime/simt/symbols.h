#pragma once
// Reads shared arrays, global variables and line numbers from the file of a compiled text.
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
    std::vector<Symbol> shared;      ///< thread-local variables, sorted by offset
    std::vector<Symbol> variables;   ///< all other variables, sorted by address
    std::uint64_t shared_bytes = 0;  ///< size of the thread-local segment
};

/// Reads the symbol table of an ELF file. Throws DeviceError if it is not an ELF file for this machine.
Symbols read_symbols(const std::string& path);

/// Returns, for each address, its lines in `text_name`: the line in the innermost function, then the lines of
/// the callers into which it is inlined. A list is empty if the lines are unknown.
///
/// Runs `addr2line`, which is slow, so only messages should call this function.
std::vector<std::vector<int>> find_lines(const std::string& library, const std::string& text_name,
                                         std::span<const std::uint64_t> addresses);

}  // namespace segfold::simt
