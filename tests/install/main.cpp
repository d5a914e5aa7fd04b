// Uses the installed headers and libraries as a stranger would: defines an operator, folds two segments.
#include <codegen/embedded_kernels.h>
#include <dsl/define.h>
#include <dsl/parser.h>
#include <runtime/judge/reference.h>

#include <array>
#include <cstdint>
#include <iostream>

int main()
{
    using namespace segfold;
    constexpr std::array<std::int32_t, 6> kValues = {3, 1, 4, 1, 5, 9};
    const auto sum = define("sum", Field<std::int32_t>("sum", 0), [](auto& op) {
        Column<std::int32_t> x(op, "x");
        op.lift(x);
        op.combine([](auto a, auto b) { return a + b; });
    });
    const auto read = parse_operator(
        "sum.seg", "operator sum(x: i32) -> i32 { state sum: i32 = 0 lift x combine(a, b) a + b }");
    if (!same(sum, read))
        return 1;
    Workload workload{.op = sum, .segments = uniform_segments(6, 3)};
    workload.arrays.push_back(Array::of<std::int32_t>(Type::i32, kValues));
    const auto results = reduce_sequentially(workload);
    for (const auto value : results.at(0).array.as<std::int32_t>()) {
        std::cout << value << ' ';
    }
    std::cout << "by " << embedded_kernels().size() << " kernel files\n";
}
