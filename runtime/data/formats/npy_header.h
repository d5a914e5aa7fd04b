#pragma once
// Parses the header of an .npy file: a Python dictionary with element type, order and shape.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace segfold {

/// The entries of the dictionary in an .npy header.
struct NpyDictionary {
    std::string descr;  ///< such as "<f4"; for structured elements, the text of a list
    bool is_structured = false;
    bool is_fortran = false;
    std::vector<std::uint64_t> shape;
};

/// Parses a header's dictionary. Throws InputError that begins with `where`.
NpyDictionary parse_npy_dictionary(std::string_view text, const std::string& where);

}  // namespace segfold
