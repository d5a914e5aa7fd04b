#pragma once
// Helpers of the executor's tests: texts from this folder, planted bugs, messages.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "runtime/simt/program.h"

namespace segfold::simt {

inline std::string kernel_text(const std::string& name)
{
    std::ifstream file(SEGFOLD_SOURCE_DIR "/tests/simt_kernels/" + name);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    EXPECT_FALSE(text.empty()) << "no text in tests/simt_kernels/" << name;
    return text;
}

/// `text` with the first `part` replaced, without changing the number of lines.
inline std::string planted(std::string text, const std::string& part, const std::string& replacement)
{
    const std::size_t place = text.find(part);
    EXPECT_NE(place, std::string::npos) << "the text lacks: " << part;
    return place == std::string::npos ? text : text.replace(place, part.size(), replacement);
}

/// Compiles with g++ unless told otherwise: the tests know its lines and type names.
inline Program compile(const std::string& text, const std::vector<std::string>& kernels,
                       CompileOptions options = {})
{
    if (options.compiler.empty())
        options.compiler = "g++";
    return Program::compile(text, kernels, options);
}

/// Every schedule and block order on one OS thread, then on several.
inline std::vector<Options> many_options()
{
    std::vector<Options> all;
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        all.push_back(options_from_seed(seed));
        all.back().os_threads = 1;
        all.push_back(options_from_seed(seed));
        all.back().os_threads = 3;
    }
    return all;
}

/// Arguments of a launch, kept as long as they are needed.
template <class... T>
struct Arguments {
    explicit Arguments(T... values) : values(values...)
    {
        std::apply([this](T&... value) { pointers = {static_cast<void*>(&value)...}; }, this->values);
    }
    operator std::span<void* const>() const { return pointers; }

    std::tuple<T...> values;
    std::vector<void*> pointers;
};

/// What a launch reports, without the part on how to replay it; "no fault" when it ends well.
inline std::string fault_of(const Program& program, const std::string& kernel, const Dimensions& dimensions,
                            std::span<void* const> arguments, const Options& options = {},
                            Fault* fault = nullptr)
{
    try {
        program.launch(kernel, dimensions, arguments, options);
        return "no fault";
    } catch (const SimtError& error) {
        if (fault != nullptr)
            *fault = error.fault();
        const std::string message = error.what();
        return message.substr(0, message.rfind(" ["));
    }
}

}  // namespace segfold::simt
