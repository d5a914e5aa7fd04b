// Linked into every test: none reads or writes the user's cache, and neither do the programs that it starts.
// What they time is no measurement: the host's cache counts as a small one, or each would read gigabytes to
// find the read rate and to empty the cache between runs.
#include <cstdlib>

namespace {

[[maybe_unused]] const int unused =
    setenv("SEGFOLD_CACHE", "off", 1) + setenv("SEGFOLD_LAST_CACHE_BYTES", "4194304", 0);

}  // namespace
