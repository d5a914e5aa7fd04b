#include "runtime/data/formats/number_text.h"

#include <fmt/format.h>

#include "dsl/half.h"
#include "dsl/laws/elements.h"

namespace segfold {

bool is_finite_as(float number, Type type)
{
    return std::isfinite(type == Type::f16 ? f16_to_f32(f32_to_f16(number))
                                           : bf16_to_f32(f32_to_bf16(number)));
}

std::string range_text(Type type)
{
    if (type == Type::f64)
        return fmt::format("{} to {}", -highest_float(type), highest_float(type));
    if (is_float(type)) {
        const auto highest = static_cast<float>(highest_float(type));
        return fmt::format("{} to {}", -highest, highest);
    }
    if (is_signed_integer(type))
        return fmt::format("{} to {}", static_cast<std::int64_t>(lowest_integer(type)),
                           static_cast<std::int64_t>(highest_integer(type)));
    return fmt::format("{} to {}", lowest_integer(type), highest_integer(type));
}

}  // namespace segfold
