#pragma once
// The flags that choose a plan.
#include <optional>

#include "codegen/emit.h"
#include "runtime/cli/arguments/arguments.h"
#include "runtime/cli/arguments/law_arguments.h"
#include "runtime/session/choice/choice.h"
#include "runtime/session/session.h"

namespace segfold::cli {

inline constexpr Flag kPlanFlags[] = {
    {"stage", "STAGE"}, {"set", "NAME=VALUE", true}, {"kernels", "DIR"}, {"reproducible"}, {"at-launch"}};

/// Values of --backend for verbs that only show stages; without it they show stages of CUDA.
inline constexpr Flag kDialectFlags[] = {{"backend", "cuda|cpu"}};

/// Whether --backend asks for the stages of the host's cores.
bool shows_native(const Arguments& arguments);

/// A back end that has the stages that are asked for, and needs no device.
std::string shown_backend(const Arguments& arguments);

/// The program's stages, with those of the folder --kernels laid over them.
class Kernels {
public:
    explicit Kernels(const Arguments& arguments);
    [[nodiscard]] const Catalogue& catalogue() const;

private:
    std::optional<Catalogue> own_;
};

/// The plan wished by --stage, --set, --reproducible and --at-launch. Throws InputError if they exclude each
/// other.
PlanRequest plan_request(const Arguments& arguments);

/// Options of a session by --kernels and --assume. Throws InputError for a law that the operator does not
/// claim.
SessionOptions session_options(const Arguments& arguments, const Operator& op);

/// Whether --stage, --set or --reproducible leave a tuning record nothing to choose; empty, or the flag.
std::string chosen_by_flag(const Arguments& arguments);

/// The values of --set. Throws InputError.
std::map<std::string, int> settings(const Arguments& arguments);

/// A stage and some of its tunables, as one word: "warp_stream" or
/// "warp_stream:ring_offsets=256,held_totals=0".
struct PlanWord {
    std::string stage;
    std::string tunables;  ///< text behind the colon
    std::map<std::string, int> chosen;
};

/// The values of --plan. Throws InputError.
std::vector<PlanWord> plan_words(const Arguments& arguments);

}  // namespace segfold::cli
