#include "runtime/support/processes/host_compiler.h"

#include <fmt/format.h>

#include <cstdlib>
#include <iterator>
#include <optional>
#include <sstream>

#include "dsl/error.h"
#include "runtime/support/processes/process.h"

namespace segfold {

std::vector<std::string> find_host_compiler(std::string_view user, const std::string& wanted)
{
    const char* environment = std::getenv("CXX");
    if (wanted.empty() && environment != nullptr && *environment != '\0') {
        if (const auto path = find_program(environment))  // the name may contain blanks
            return {*path};
        std::istringstream text(environment);
        std::vector<std::string> words{std::istream_iterator<std::string>(text), {}};
        const auto path = words.empty() ? std::nullopt : find_program(words.front());
        if (!path)
            throw DeviceError(
                fmt::format("{}: CXX is '{}', and no such program is on PATH; set it to a C++ "
                            "compiler, or unset it to take g++, c++ or clang++",
                            user, environment));
        words.front() = *path;
        return words;
    }
    std::vector<std::string> candidates = {"g++", "c++", "clang++"};
    if (!wanted.empty())
        candidates = {wanted};
    for (const std::string& candidate : candidates)
        if (const auto path = find_program(candidate))
            return {*path};
    throw DeviceError(
        fmt::format("{}: no C++ compiler: tried {}; install g++ or set CXX to a compiler's path", user,
                    fmt::join(candidates, ", ")));
}

}  // namespace segfold
