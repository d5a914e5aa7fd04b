#include "runtime/cli/failure.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>

#include "dsl/error.h"
#include "runtime/cli/views/json.h"
#include "runtime/cli/views/terminal.h"

namespace segfold::cli {
namespace {

constexpr int kInput = 2, kMachine = 3, kOurFault = 4;

/// True if a failure must also be reported as a JSON document. The worker of tune never does so, because its
/// standard output carries a protocol.
bool asks_for_document(const Words& words)
{
    if (words.empty())
        return false;
    // Flags follow the verb, if there is one.
    const auto first = words.front().starts_with("-") ? words.begin() : std::next(words.begin());
    const auto end = std::find(first, words.end(), "--");
    return std::find(first, end, "--json") != end && std::find(first, end, "--worker") == end;
}

/// Removes ":NUMBER" from the end of `text` and returns the number. Returns nothing if there is no such end,
/// or no text before it.
std::optional<int> take_number(std::string_view& text)
{
    constexpr std::size_t kMostDigits = 9;
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos || colon == 0 || text.size() - colon - 1 > kMostDigits)
        return std::nullopt;
    int number = 0;
    const auto digits = text.substr(colon + 1);
    const auto* end = digits.data() + digits.size();
    if (digits.starts_with('-') || digits.empty() || std::from_chars(digits.data(), end, number).ptr != end)
        return std::nullopt;
    text = text.substr(0, colon);
    return number;
}

/// Returns the source places (FILE:LINE: or FILE:LINE:COLUMN:) with which lines of a message begin.
Json places_of(const std::string& message)
{
    Json places = Json::array();
    std::istringstream lines(message);
    for (std::string line; std::getline(lines, line);) {
        const auto end = line.find(": ");
        // Skips indented lines, which are excerpts, and lines that quote a name before the first colon, which
        // name no file.
        if (line.starts_with(' ') || end == std::string::npos || line.find('\'') < end)
            continue;
        auto file = std::string_view(line).substr(0, end);
        const auto last = take_number(file);
        const auto first = last ? take_number(file) : std::nullopt;
        if (!last)
            continue;
        places.push_back({{"file", file}, {"line", first.value_or(*last)}});
        if (first)
            places.back()["column"] = *last;
    }
    return places;
}

}  // namespace

Failure failure_of(const std::exception& error)
{
    if (const auto* ours = dynamic_cast<const Error*>(&error))
        return {dynamic_cast<const SpecError*>(ours) != nullptr     ? "specification"
                : dynamic_cast<const InputError*>(ours) != nullptr  ? "input"
                : dynamic_cast<const DeviceError*>(ours) != nullptr ? "device"
                                                                    : "internal",
                ours->exit_code(), ours->what()};
    if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr)
        return {"input", kInput, "out of memory; take fewer elements"};
    // An error of a standard type has an unknown cause. Code that knows the cause throws a clearer error.
    if (const auto* files = dynamic_cast<const std::filesystem::filesystem_error*>(&error))
        return {"input", kInput, files->path1().string() + ": " + files->code().message()};
    if (const auto* system = dynamic_cast<const std::system_error*>(&error)) {
        // No thread can start if memory is exhausted or limited.
        if (system->code() == std::errc::resource_unavailable_try_again)
            return {"input", kInput,
                    "the system has no memory for a thread; take fewer elements, or raise ulimit -v"};
        return {"device", kMachine, std::string("the system refuses what is needed: ") + error.what()};
    }
    return {"internal", kOurFault, std::string("internal error: ") + error.what()};
}

int report(const Words& words, const Failure& failure)
{
    write_error(failure.message);
    if (!asks_for_document(words))
        return failure.exit_code;
    try {
        write_json("error", {{"verb", words.front()},
                             {"class", failure.kind},
                             {"exit_code", failure.exit_code},
                             {"message", failure.message},
                             {"places", places_of(failure.message)}});
    } catch (const std::exception&) {
        // Standard output cannot be written. This may be the reported failure itself. The message is already
        // on standard error.
    }
    return failure.exit_code;
}

}  // namespace segfold::cli
