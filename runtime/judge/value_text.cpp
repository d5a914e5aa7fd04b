#include "runtime/judge/value_text.h"

#include <fmt/format.h>

#include "runtime/judge/disturbed.h"

namespace segfold {

std::string value_text(const Array& array, std::int64_t i)
{
    WideValue value{};
    Machine<long double>::load(value, array.type(), array.data(), i);
    return value_text(array.type(), value);
}

std::string value_text(Type type, const WideValue& value)
{
    if (type == Type::boolean)
        return value.bits ? "true" : "false";
    if (is_signed_integer(type))
        return fmt::format("{}", static_cast<std::int64_t>(value.bits));
    if (!is_float(type))
        return fmt::format("{}", value.bits);
    const long double rounded = round_to(type, value.real);
    if (rounded != rounded)
        return "nan";  // the sign of a NaN is not printed
    return type == Type::f64 ? fmt::format("{}", static_cast<double>(rounded))
                             : fmt::format("{}", static_cast<float>(rounded));
}

}  // namespace segfold
