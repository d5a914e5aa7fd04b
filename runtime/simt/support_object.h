#pragma once
// The precompiled functions that every text calls.
#include <string_view>

namespace segfold::simt {

/// The bytes of an object file (ELF, for the host's processor) that is linked with every text.
///
/// It was compiled from `shim/support.cpp` when segfold was built; the linker of any compiler accepts it.
std::string_view support_object();

}  // namespace segfold::simt
