#include "runtime/data/formats/operator_file.h"

#include <fmt/format.h>

#include <span>

#include "dsl/error.h"
#include "dsl/text/parser.h"
#include "runtime/support/files/file.h"

namespace segfold {

std::string read_operator_text(const std::string& path)
{
    return naming_purpose("as an operator", [&] {
        const InputFile file(path);
        if (file.bytes() > kMostOperatorBytes)
            throw InputError(fmt::format("{}: the text has {} bytes; an operator may have {}", path,
                                         file.bytes(), kMostOperatorBytes));
        std::string text(file.bytes(), '\0');
        file.read(0, std::as_writable_bytes(std::span(text)));
        return text;
    });
}

Operator read_operator(const std::string& path, std::optional<Type> generic)
{
    return parse_operator(path, read_operator_text(path), generic);
}

}  // namespace segfold
