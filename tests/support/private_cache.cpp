// Linked into every test. Turns the cache off, so that tests and the programs that they start do not touch
// the user's cache. Also sets a small size for the host's last-level cache: times of tests are no
// measurements, and with the real size each test would read gigabytes to find the read rate and to empty the
// cache between runs.
#include <cstdlib>

namespace {

[[maybe_unused]] const int unused =
    setenv("SEGFOLD_CACHE", "off", 1) + setenv("SEGFOLD_LAST_CACHE_BYTES", "4194304", 0);

}  // namespace
