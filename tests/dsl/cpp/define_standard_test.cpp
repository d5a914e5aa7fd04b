// Every standard operator defined in C++ equals its text, for each of its types.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dsl/printer.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "tests/dsl/cpp/standard_in_cpp.h"
#include "tests/dsl/cpp/write_back_in_cpp.h"

namespace segfold::define_standard_test {
namespace {

using Made = std::optional<Operator>;

/// The operator that `make` makes for `T`, if it accepts T.
template <class T, class Make>
Made made(const Make& make)
{
    if constexpr (requires { make.template operator()<T>(); })
        return make.template operator()<T>();
    else
        return std::nullopt;
}

/// Turns a generic lambda into a function of a type of the language.
template <class Make>
std::function<Made(Type)> each(Make make)
{
    return [make](Type type) -> Made {
        switch (type) {
            case Type::boolean: return made<bool>(make);
            case Type::i8: return made<std::int8_t>(make);
            case Type::i16: return made<std::int16_t>(make);
            case Type::i32: return made<std::int32_t>(make);
            case Type::i64: return made<std::int64_t>(make);
            case Type::u8: return made<std::uint8_t>(make);
            case Type::u16: return made<std::uint16_t>(make);
            case Type::u32: return made<std::uint32_t>(make);
            case Type::u64: return made<std::uint64_t>(make);
            case Type::f16: return made<half>(make);
            case Type::bf16: return made<bfloat16>(make);
            case Type::f32: return made<float>(make);
            case Type::f64: return made<double>(make);
        }
        return std::nullopt;
    };
}

const std::map<std::string, std::function<Made(Type)>> kDefinitions = {
    {"affine", each([]<NumberType T>() { return in_cpp::affine<T>(); })},
    {"all", each([]<ValueType T>() { return in_cpp::all<T>(); })},
    {"any", each([]<ValueType T>() { return in_cpp::any<T>(); })},
    {"argmax", each([]<NumberType T>() { return in_cpp::argmax<T>(); })},
    {"argmin", each([]<NumberType T>() { return in_cpp::argmin<T>(); })},
    {"centre", each([]<RealType T>() { return in_cpp::centre<T>(); })},
    {"count", each([]<ValueType T>() { return in_cpp::count<T>(); })},
    {"dot", each([]<NumberType T>() { return in_cpp::dot<T>(); })},
    {"keep_first", each([]<ValueType T>() { return in_cpp::keep_first<T>(); })},
    {"log_softmax", each([]<RealType T>() { return in_cpp::log_softmax<T>(); })},
    {"log_sum_exp", each([]<RealType T>() { return in_cpp::log_sum_exp<T>(); })},
    {"max", each([]<NumberType T>() { return in_cpp::max<T>(); })},
    {"max_subarray", each([]<NumberType T>() { return in_cpp::max_subarray<T>(); })},
    {"mean", each([]<NumberType T>() { return in_cpp::mean<T>(); })},
    {"min", each([]<NumberType T>() { return in_cpp::min<T>(); })},
    {"normalise", each([]<RealType T>() { return in_cpp::normalise<T>(); })},
    {"product", each([]<NumberType T>() { return in_cpp::product<T>(); })},
    {"rescale", each([]<RealType T>() { return in_cpp::rescale<T>(); })},
    {"share", each([]<RealType T>() { return in_cpp::share<T>(); })},
    {"softmax", each([]<RealType T>() { return in_cpp::softmax<T>(); })},
    {"softmax_backward", each([]<RealType T>() { return in_cpp::softmax_backward<T>(); })},
    {"standardise", each([]<RealType T>() { return in_cpp::standardise<T>(); })},
    {"sum", each([]<NumberType T>() { return in_cpp::sum<T>(); })},
    {"trace", each([]<IntegerType T>() { return in_cpp::trace<T>(); })},
    {"welford_mean_variance", each([]<RealType T>() { return in_cpp::welford_mean_variance<T>(); })},
};

TEST(DefineStandard, EveryOperatorOfEveryTypeEqualsItsText)
{
    std::size_t found = 0;
    for (const auto& [name, summary, types, source, example, text] : standard_operators()) {
        if (!kDefinitions.contains(name))
            continue;  // operators that only the text form can express
        ++found;
        std::vector<Type> taken;
        for (const Type type : kTypes)
            if (const auto built = kDefinitions.at(name)(type)) {
                taken.push_back(type);
                auto read = standard_operator(name, type);
                read.description.clear();
                EXPECT_TRUE(same(*built, read)) << "built\n" << print(*built) << "read\n" << print(read);
                EXPECT_EQ(print(*built), print(read));
                EXPECT_TRUE(same(*built, parse_operator("printed", print(*built)))) << print(*built);
            }
        EXPECT_EQ(taken, types) << name;
    }
    EXPECT_EQ(found, kDefinitions.size());
}

}  // namespace
}  // namespace segfold::define_standard_test
