#include "runtime/cli/arguments/law_arguments.h"

#include <fmt/format.h>

#include <algorithm>

#include "dsl/error.h"
#include "dsl/message/suggest.h"
#include "runtime/laws/operator_laws.h"

namespace segfold::cli {
namespace {

constexpr Law kLaws[] = {Law::associative, Law::identity, Law::commutative, Law::idempotent};

}  // namespace

std::vector<Law> assumed_laws(const Arguments& arguments, const Operator& op)
{
    std::vector<std::string_view> names;
    for (const auto law : kLaws)
        names.push_back(name(law));
    std::vector<Law> assumed;
    for (const auto& text : arguments.values("assume")) {
        const auto found = std::ranges::find(names, text);
        if (found == names.end())
            throw InputError(fmt::format("--assume: unknown law '{}'; it is one of {}{}", text,
                                         fmt::join(names, ", "), did_you_mean(text, names)));
        const auto law = kLaws[found - names.begin()];
        if (!claims(op, law))
            throw InputError(fmt::format(
                "--assume {}: operator {} {}", text, op.name,
                law == Law::identity
                    ? "has no identity"
                    : fmt::format("does not claim to be {}; add it to the operator's laws", text)));
        assumed.push_back(law);
    }
    return assumed;
}

}  // namespace segfold::cli
