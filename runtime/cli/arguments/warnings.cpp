#include "runtime/cli/arguments/warnings.h"

#include <fmt/format.h>

#include "runtime/cli/views/terminal.h"

namespace segfold::cli {

void write_warnings(const Arguments& arguments, const std::vector<std::string>& warnings)
{
    const bool is_run = arguments.declares("explain");
    const bool shows_all = is_run && arguments.has("explain");
    for (const auto& warning : warnings) {
        const auto line = warning.substr(0, warning.find('\n'));
        write_error("warning: " + (shows_all || line.size() == warning.size()
                                       ? warning
                                       : fmt::format("{} ({} shows more)", line,
                                                     is_run ? "--explain" : "'segfold check'")));
    }
}

}  // namespace segfold::cli
