#include "runtime/cli/verbs/extract_kernels.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <vector>

#include "codegen/embedded_kernels.h"
#include "dsl/error.h"
#include "runtime/cli/views/terminal.h"
#include "runtime/support/files/file.h"
#include "runtime/support/text_table.h"

namespace segfold::cli {
namespace {

namespace fs = std::filesystem;

/// A file to write, or one that already exists.
struct KernelFile {
    std::string path;
    std::string_view text;
    bool is_there;
};

/// Whether `path` exists with `text`. Throws if it exists with another text.
bool is_written(const std::string& folder, const fs::path& path, std::string_view text)
{
    std::error_code error;
    if (!fs::exists(fs::symlink_status(path, error)))
        return false;
    std::string found;
    if (fs::is_regular_file(path, error)) {
        std::ifstream in(path, std::ios::binary);
        found.assign(std::istreambuf_iterator<char>(in), {});
        if (in && found == text)
            return true;
    }
    throw InputError(
        fmt::format("--extract '{}': {} is there and is not the program's; nothing was written; "
                    "move it away, or name another folder",
                    folder, path.string()));
}

void make_folder(const std::string& folder, const fs::path& path)
{
    std::error_code error;
    fs::create_directories(path, error);
    if (error)
        throw InputError(fmt::format("--extract '{}': the folder {} cannot be made: {}", folder,
                                     path.string(), error.message()));
}

}  // namespace

void extract_kernels(const std::string& folder, bool as_json)
{
    std::vector<KernelFile> files;
    for (const auto& file : embedded_kernels()) {
        const auto path = fs::path(folder) / file.path;
        files.push_back({path.string(), file.text, is_written(folder, path, file.text)});
    }
    TextTable table({{"file"}, {""}});
    Json list = Json::array();
    for (const auto& [path, text, is_there] : files) {
        if (!is_there) {
            make_folder(folder, fs::path(path).parent_path());
            OutputFile file(path);
            file.write(text);
            file.commit();
        }
        table.add({path, is_there ? "was there" : "written"});
        list.push_back({{"file", path}, {"written", !is_there}});
    }
    if (as_json)
        write_json("extracted_files", {{"folder", folder}, {"files", std::move(list)}});
    else
        write_output(table.print());
}

}  // namespace segfold::cli
