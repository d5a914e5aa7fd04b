#include "runtime/check/derived_operators.h"

#include <utility>

#include "dsl/check/check.h"

namespace segfold::regress {

Operator joining_operator(const Operator& op)
{
    Operator derived = state_operator(op);
    derived.parameters.clear();
    Block lift;
    // These names cannot occur in combine.
    for (std::size_t i = 0; i < op.state.size(); ++i) {
        const auto column = "joined" + std::to_string(i);
        derived.parameters.push_back({column, op.state[i].type, false, {}});
        lift.assignments.push_back({op.state[i].name, make_name(column), {}});
    }
    derived.lift = std::move(lift);
    derived.append.reset();
    return check(std::move(derived));
}

bool lift_knows_segments(const Operator& op)
{
    return uses_name(op.lift, "position") || uses_name(op.lift, "segment");
}

}  // namespace segfold::regress
