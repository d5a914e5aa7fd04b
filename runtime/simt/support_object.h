#pragma once
// The compiled functions that texts call.
#include <string_view>

namespace segfold::simt {

/// The bytes of an object file (ELF, for the host's processor) that is linked with every text.
///
/// What `shim/support.cpp` was compiled to when segfold was built; linkers of any compiler take it.
std::string_view support_object();

}  // namespace segfold::simt
