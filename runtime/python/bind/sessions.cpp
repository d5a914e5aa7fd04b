#include "runtime/python/bind/sessions.h"

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <string_view>

#include "dsl/error.h"
#include "runtime/backends/cpu/native_compiler.h"
#include "runtime/backends/cuda/compile/kernel_cache.h"
#include "runtime/backends/cuda/library.h"

namespace segfold::python {

namespace nb = nanobind;

namespace {

/// Removes numbers from a warning's first line, so that warnings that differ only in numbers become equal.
/// Keeps digits in names and within quotes.
std::string without_numbers(std::string_view line)
{
    const auto is_digit = [&](std::size_t i) { return i < line.size() && line[i] >= '0' && line[i] <= '9'; };
    const auto is_letter = [&](std::size_t i) {
        return line[i] == '_' || (line[i] >= 'a' && line[i] <= 'z') || (line[i] >= 'A' && line[i] <= 'Z');
    };
    // Returns the end of a number, which has digits and possibly a fraction and an exponent.
    const auto end_of_number = [&](std::size_t i) {
        const auto skip_digits = [&] { i = std::min(line.find_first_not_of("0123456789", i), line.size()); };
        skip_digits();
        if (i < line.size() && line[i] == '.' && is_digit(i + 1)) {
            ++i;
            skip_digits();
        }
        if (i + 1 < line.size() && line[i] == 'e' &&
            is_digit(i + (line[i + 1] == '-' || line[i + 1] == '+' ? 2 : 1))) {
            i += 2;
            skip_digits();
        }
        return i;
    };
    std::string kept;
    bool is_quoted = false, is_in_name = false;
    for (std::size_t i = 0; i < line.size();) {
        if (!is_quoted && !is_in_name && is_digit(i)) {
            if (!kept.empty() && kept.back() == '-')
                kept.pop_back();
            i = end_of_number(i);
            continue;
        }
        if (line[i] == '\'' && (is_quoted || !is_in_name))  // but not at an apostrophe, as in "the
                                                            // operator's"
            is_quoted = !is_quoted;
        is_in_name = is_letter(i) || (is_in_name && is_digit(i));
        kept += line[i++];
    }
    return kept;
}

}  // namespace

void warn(const std::vector<std::string>& texts, ToldWarnings* told)
{
    const auto say = [](const std::string& text) {
        nb::module_::import_("segfold._results").attr("warn")(text);
    };
    for (const auto& text : texts) {
        if (told == nullptr) {
            say(text);
            continue;
        }
        const auto line = std::string_view(text).substr(0, text.find('\n'));
        auto kind = without_numbers(line);  // equal for warnings that differ only in numbers
        if (told->find(kind) != told->end())
            continue;
        say(line.size() == text.size() ? text
                                       : fmt::format("{} (segfold.explain(operator) shows more)", line));
        told->emplace(std::move(kind), text);
    }
}

void warn_of_caches()
{
    for (const auto& note : {cuda::take_cache_note(), cpu::take_library_note()})
        if (note)
            warn({*note});
}

void look_for_nvrtc()
{
    static bool is_done = false;
    if (std::exchange(is_done, true) || cuda::driver_major() == 0)
        return;
    std::vector<std::filesystem::path> places;
    for (const nb::handle place : nb::module_::import_("segfold._nvrtc").attr("places")())
        places.emplace_back(nb::cast<const char*>(place));
    cuda::set_package_places(std::move(places));
}

namespace {

std::map<SessionChoice, std::shared_ptr<Session>>& sessions()
{
    // Never freed, because sessions must outlive the interpreter.
    static auto* made = new std::map<SessionChoice, std::shared_ptr<Session>>;
    return *made;
}

}  // namespace

std::vector<std::shared_ptr<Session>> all_sessions()
{
    std::vector<std::shared_ptr<Session>> all;
    for (const auto& [choice, session] : sessions())
        all.push_back(session);
    return all;
}

std::shared_ptr<Session> session_of(const SessionChoice& choice)
{
    if (const auto found = sessions().find(choice); found != sessions().end())
        return found->second;
    look_for_nvrtc();
    SessionOptions options;
    options.backend = choice.backend;
    options.device = choice.device;
    options.kernels = choice.kernels;
    options.assume = choice.assume;
    options.assume_option = "assume='LAW'";
    options.fold_call = "a call of the operator";
    // Adds the session only after it has been made, because the constructor may throw.
    auto session = std::make_shared<Session>(std::move(options));
    return sessions().emplace(choice, std::move(session)).first->second;
}

std::shared_ptr<Session> session_of_gpu(SessionChoice choice, int device)
{
    if (choice.backend != "auto" && choice.backend != "cuda")
        throw InputError(fmt::format("arrays lie on GPU {}, and the back end {} folds arrays of the host",
                                     device, choice.backend));
    if (choice.device && *choice.device != device)
        throw InputError(
            fmt::format("arrays lie on GPU {}, and device={} is asked for", device, *choice.device));
    choice.backend = "cuda";
    choice.device = device;
    return session_of(choice);
}

First first_named(const std::string& word)
{
    if (word != "best" && word != "fast")
        throw InputError(
            fmt::format("first= is 'best', for the least time of a run, or 'fast', for the least "
                        "time until there are results; '{}' is neither",
                        word));
    return word == "best" ? First::best : First::fast;
}

}  // namespace segfold::python
