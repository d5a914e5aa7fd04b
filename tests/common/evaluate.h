#pragma once
// Evaluates single expressions of the language, for tests.
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "dsl/evaluation/evaluator.h"
#include "dsl/text/parser.h"

namespace segfold {

/// One expression of typed columns, compiled once and evaluated at many values.
///
///     Evaluation sum("x + y", Type::i8, {{"x", Type::i8}, {"y", Type::i8}});
///     sum.at<std::int8_t>(std::int8_t{100}, std::int8_t{100}) == -56
template <class Real = double>
class Evaluation {
public:
    Evaluation(const std::string& expression, Type result,
               const std::vector<std::pair<std::string, Type>>& columns)
        : result_(result),
          bytecode_(compile_bytecode(parse_operator("test", text(expression, result, columns))))
    {}

    /// The value for one element. `values` have the columns' storage types.
    template <class Result, class... Values>
    Result at(const Values&... values)
    {
        Evaluator<Real> evaluator(bytecode_);
        const void* columns[] = {&values...};
        Slot<Real> state{};
        evaluator.lift(columns, 0, 0, 0, &state);
        std::uint64_t bytes = 0;
        Machine<Real>::store(state, result_, &bytes, 0);
        Result result{};
        std::memcpy(&result, &bytes, sizeof result);
        return result;
    }

private:
    static std::string text(const std::string& expression, Type result,
                            const std::vector<std::pair<std::string, Type>>& columns)
    {
        const std::string type(name(result));
        std::string text = "operator f(";
        for (const auto& [column, of] : columns)
            text += (text.ends_with('(') ? "" : ", ") + column + ": " + std::string(name(of));
        return text + ") -> " + type + " { state s: " + type + " lift " + expression + " combine(a, b) a }";
    }

    Type result_;
    Bytecode bytecode_;
};

}  // namespace segfold
