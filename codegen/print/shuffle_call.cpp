#include "codegen/print/shuffle_call.h"

#include <fmt/format.h>

#include "codegen/print/cuda_names.h"

namespace segfold {

std::string shuffle_call(Type type, std::string_view value, std::string_view intrinsic, std::string_view mask,
                         std::string_view argument)
{
    const auto call = [&](std::string_view what) {
        return fmt::format("{}({}, {}, {})", intrinsic, mask, what, argument);
    };
    if (type == Type::f16 || type == Type::bf16)
        return fmt::format("{}{{(unsigned short)({})}}", cuda_name(type),
                           call(fmt::format("unsigned({}.bits)", value)));
    if (size_bytes(type) >= 4)
        return call(value);
    return fmt::format("{}({})", cuda_name(type), call(fmt::format("int({})", value)));
}

}  // namespace segfold
