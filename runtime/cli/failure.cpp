#include "runtime/cli/failure.h"

#include <algorithm>
#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>
#include <regex>

#include "dsl/error.h"
#include "runtime/cli/json.h"
#include "runtime/cli/terminal.h"

namespace segfold::cli {
namespace {

constexpr int kInput = 2, kOurFault = 4;

/// A worker of tune speaks a protocol on standard output, and tells its failures in that.
bool asks_for_document(const Words& words)
{
    if (words.empty())
        return false;
    const auto first = std::next(words.begin());  // behind the verb
    const auto end = std::find(first, words.end(), "--");
    return std::find(first, end, "--json") != end && std::find(first, end, "--worker") == end;
}

/// The place that a message about a text begins with, FILE:LINE: or FILE:LINE:COLUMN:; null where it names
/// none.
Json place_of(const std::string& message)
{
    static const std::regex place("((?:(?!: )[^'\n])+?):([0-9]{1,9})(?::([0-9]{1,9}))?: ");
    std::smatch parts;
    // Files are named in the first line; what follows are excerpts.
    const auto line = message.substr(0, message.find('\n')) + " ";
    if (!std::regex_search(line, parts, place, std::regex_constants::match_continuous))
        return nullptr;
    Json object = {{"file", parts.str(1)}, {"line", std::stoi(parts.str(2))}};
    if (parts[3].matched)
        object["column"] = std::stoi(parts.str(3));
    return object;
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
        return {"input", kInput, "out of memory; try fewer elements"};
    // Whoever meets one of these and can say more has done so.
    if (const auto* files = dynamic_cast<const std::filesystem::filesystem_error*>(&error))
        return {"input", kInput, files->path1().string() + ": " + files->code().message()};
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
                             {"place", place_of(failure.message)}});
    } catch (const std::exception&) {
        // Standard output cannot be written, which may be what failed; standard error has the message.
    }
    return failure.exit_code;
}

}  // namespace segfold::cli
