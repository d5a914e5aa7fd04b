#include "runtime/check/operators/derived_operators.h"

#include <utility>

#include "dsl/check/check.h"
#include "dsl/rewrite/neutral_identity.h"

namespace segfold::regress {

Operator joining_operator(const Operator& op)
{
    Operator derived = state_operator(op);
    derived.parameters.clear();
    Block lift;
    // combine cannot see parameters, so these column names conflict with no name used in combine.
    for (std::size_t i = 0; i < op.state.size(); ++i) {
        const auto column = "joined" + std::to_string(i);
        derived.parameters.push_back({column, op.state[i].type, false, {}});
        lift.assignments.push_back({op.state[i].name, make_name(column), {}});
    }
    derived.lift = std::move(lift);
    derived.append.reset();
    return check(std::move(derived));
}

Operator scan_states_operator(const Operator& op)
{
    Operator derived = state_operator(op);
    Scan scan{unused_name(derived, "before"), unused_name(derived, "through"), op.scan->reverse, {}};
    for (const auto& field : op.state) {
        const auto name = unused_name(derived, "through_" + std::to_string(derived.outputs.size()));
        derived.outputs.push_back({name, field.type, {}});
        scan.block.assignments.push_back({name, make_field(Operand::later, field.name), {}});
    }
    derived.scan = std::move(scan);
    return check(std::move(derived));
}

bool lift_knows_segments(const Operator& op)
{
    return uses_name(op.lift, "position") || uses_name(op.lift, "segment");
}

}  // namespace segfold::regress
