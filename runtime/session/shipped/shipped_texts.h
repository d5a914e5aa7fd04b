#pragma once
// The texts that folds of an operator may need on GPUs that this machine does not have.
#include <functional>
#include <string>

#include "codegen/emit.h"
#include "runtime/session/session.h"
#include "runtime/session/shipped/shipped_plans.h"

namespace segfold {

/// Calls `take` with the text of each plan that folds and plans of `op` may need on a GPU of compute
/// capability `capability`, such as 90 for 9.0. Texts may repeat.
///
/// Ranks the stages for shapes of all magnitudes. Takes each stage that comes first for some shape, in all
/// configurations that it has for any shape. `session` must use the back end simt. Throws InputError for an
/// invalid layout and for one that no stage takes, SpecError for a refuted identity.
void for_each_shipped(const Operator& op, int capability, const ExportOptions& options, Session& session,
                      const std::function<void(const Emitted& emitted)>& take);

}  // namespace segfold
