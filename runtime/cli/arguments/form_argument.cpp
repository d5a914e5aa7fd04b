#include "runtime/cli/arguments/form_argument.h"

#include <filesystem>

#include "dsl/layout.h"
#include "runtime/data/formats/npz.h"
#include "runtime/data/formats/written_array.h"
#include "runtime/support/files/file.h"

namespace segfold::cli {
std::optional<int> key_bytes_of(const std::string& text)
{
    if (!text.starts_with("keys="))
        return std::nullopt;
    const auto place = parse_layout(text).files.at(0);
    if (is_written_array(place))
        return size_bytes(read_written_array(place).type());
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(archive_place(place).path, ignored))
        return std::nullopt;
    return naming_purpose("for --layout keys", [&] { return size_bytes(read_array_type(place)); });
}

}  // namespace segfold::cli
