#include "runtime/backends/cuda/compile/compile_error.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/crc.hpp>
#include <charconv>
#include <vector>

#include "dsl/error.h"
#include "runtime/support/files/file.h"
#include "runtime/support/files/private_folder.h"
#include "runtime/support/files/user_folders.h"

namespace segfold::cuda {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLinesAround = 2;
constexpr std::size_t kKeptSources = 100;

std::vector<std::string_view> lines_of(std::string_view text)
{
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        lines.push_back(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return lines;
}

void drop_oldest(const fs::path& directory)
{
    std::vector<std::pair<fs::file_time_type, fs::path>> files;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory, error))
        files.emplace_back(entry.last_write_time(error), entry.path());
    if (files.size() <= kKeptSources)
        return;
    std::ranges::sort(files);
    for (std::size_t i = 0; i < files.size() - kKeptSources; ++i)
        fs::remove(files[i].second, error);
}

// Turns a program's name, which may be any text, into a file name.
std::string stem_of_name(std::string_view name)
{
    std::string stem(name.substr(0, name.ends_with(".cu") ? name.size() - 3 : name.size()));
    for (char& c : stem)
        if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-')
            c = '_';
    return stem.substr(0, 100);
}

std::string after_colon(std::string_view text)
{
    const std::size_t colon = text.find(": ");
    return std::string(colon == std::string_view::npos ? text : text.substr(colon + 2));
}

}  // namespace

LoggedError first_error(std::string_view log, std::string_view name)
{
    const std::string place = fmt::format("{}(", name);
    LoggedError unplaced;
    for (const std::string_view line : lines_of(log)) {
        const std::size_t colon = line.find(": ");
        if (line.starts_with(' ') || colon == std::string_view::npos)
            continue;
        const std::string_view said = line.substr(colon + 2);
        if (line.starts_with(place) &&
            (said.starts_with("error") || said.starts_with("catastrophic error"))) {
            LoggedError error{.line = 0, .text = after_colon(said)};
            std::from_chars(line.data() + place.size(), line.data() + line.size(), error.line);
            return error;
        }
        // Errors without a line: "nvrtc: error: ...", "ptxas error   : ...", "ptxas fatal   : ..."
        if (unplaced.text.empty() &&
            (said.starts_with("error") || line.starts_with("ptxas error") || line.starts_with("ptxas fatal")))
            unplaced.text = after_colon(line.starts_with("ptxas") ? line : said);
    }
    return unplaced;
}

std::string excerpt(std::string_view source, std::size_t line)
{
    const std::vector<std::string_view> lines = lines_of(source);
    if (line == 0 || line > lines.size())
        return {};
    const std::size_t first = line > kLinesAround ? line - kLinesAround : 1;
    const std::size_t last = std::min(line + kLinesAround, lines.size());
    const std::size_t width = std::to_string(last).size();
    std::string text;
    for (std::size_t i = first; i <= last; ++i)
        text += fmt::format("{} {:>{}} |{}{}\n", i == line ? '>' : ' ', i, width,
                            lines[i - 1].empty() ? "" : " ", lines[i - 1]);
    return text;
}

fs::path failed_source_directory()
{
    if (auto folder = user_cache_folder("failed"); !folder.empty())
        return folder;
    std::error_code ignored;
    return fs::temp_directory_path(ignored) / fmt::format("segfold-{}", geteuid()) / "failed";
}

fs::path keep_failed_source(std::string_view name, std::string_view source)
{
    try {
        const fs::path directory = failed_source_directory();
        // Other users must not read the sources or plant a link among them.
        if (user_cache_folder("failed").empty())
            cache::require_private_folder(directory.parent_path());
        cache::require_private_folder(directory);
        boost::crc_32_type checksum;
        checksum.process_bytes(source.data(), source.size());
        const fs::path path =
            directory / fmt::format("{}-{:08x}.cu", stem_of_name(name), checksum.checksum());
        write_whole(path.string(), source);
        drop_oldest(directory);
        return path;
    } catch (const fs::filesystem_error&) {
        return {};
    } catch (const InputError&) {
        return {};
    }
}

std::string compile_failure(std::string_view name, std::string_view source, std::string_view compiler,
                            std::string_view log)
{
    const LoggedError error = first_error(log, name);
    std::string message(name);
    if (error.line != 0)
        message += fmt::format(":{}", error.line);
    message += fmt::format(": {}\n", error.text.empty() ? "the compiler gave no reason" : error.text);
    message += excerpt(source, error.line);
    const fs::path kept = keep_failed_source(name, source);
    if (kept.empty())
        message += fmt::format("the source could not be kept: {} cannot be written\n",
                               failed_source_directory().string());
    else
        message += fmt::format("the source is kept in {}\n", kept.string());
    message += fmt::format("{} says:\n{}", compiler, log);
    while (message.ends_with('\n'))
        message.pop_back();
    return message;
}

}  // namespace segfold::cuda
