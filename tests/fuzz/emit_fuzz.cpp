// libFuzzer's entry: every input is an operator's text, or its description; tests/fuzz/run.sh builds and runs
// it.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/find_escape.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const auto fault = segfold::find_escape(std::string(reinterpret_cast<const char*>(data), size));
    if (!fault.empty()) {
        std::fprintf(stderr, "%s\n", fault.c_str());
        std::abort();
    }
    return 0;
}
