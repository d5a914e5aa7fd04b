#pragma once
// The texts of the plans that folds of an operator may take on GPUs that are not here.
#include <functional>
#include <string>

#include "codegen/emit.h"
#include "runtime/session/session.h"
#include "runtime/session/shipped/shipped_plans.h"

namespace segfold {

/// Calls `take` with the text of each plan that folds and plans of `op` may take on a GPU of
/// compute capability `capability`, ten times the major number plus the minor one. Texts may repeat.
///
/// Shapes of all magnitudes are asked for their stage; each stage that is the first for one of them is taken
/// in all configurations that it has for any. `session` must be of the back end simt. Throws InputError for
/// a wrong layout, SpecError for a refuted identity.
void for_each_shipped(const Operator& op, int capability, const ExportOptions& options, Session& session,
                      const std::function<void(const Emitted& emitted)>& take);

}  // namespace segfold
