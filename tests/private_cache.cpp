// Linked into every test: none reads or writes the user's cache, and neither do the programs that it starts.
#include <cstdlib>

namespace {

[[maybe_unused]] const int unused = setenv("SEGFOLD_CACHE", "off", 1);

}  // namespace
