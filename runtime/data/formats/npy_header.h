#pragma once
// The text at the front of an .npy file: a Python dictionary of element type, order and shape.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace segfold {

/// The dictionary, as it stands in the file.
struct NpyDictionary {
    std::string descr;  ///< such as "<f4"; of structured elements, the list's text
    bool is_structured = false;
    bool is_fortran = false;
    std::vector<std::uint64_t> shape;
};

/// Reads a header's dictionary; throws InputError that starts with `where`.
NpyDictionary parse_npy_dictionary(std::string_view text, const std::string& where);

}  // namespace segfold
