#pragma once
// Checks an operator. It judges the laws first, then runs every stage on every layout and compares the
// results with the reference and Thrust.
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "codegen/catalogue.h"
#include "runtime/check/check_layouts.h"
#include "runtime/check/fault_input.h"
#include "runtime/data/workload_request.h"
#include "runtime/judge/compare.h"
#include "runtime/laws/operator_laws.h"
#include "runtime/scale/ranks/agreed_ranks.h"
#include "runtime/session/session.h"

namespace segfold::regress {

/// Returns the default number of elements on which a check runs a stage.
///
/// The number lies between `least` and `most`. It is large enough that the loops of the stage's smallest
/// plans run more than once. A few elements are added, so that the number is divisible by an odd segment
/// length and by the width of vector loads.
std::int64_t elements_for(const Operator& op, const Stage& stage, const Catalogue& catalogue,
                          const Target& target, std::int64_t least, std::int64_t most);

/// Outcome of one stage, or of Thrust, on one layout with one seed.
struct CheckOutcome {
    std::string stage;  ///< "thrust" for Thrust itself
    std::string layout;
    std::uint64_t seed = 0;
    std::int64_t num_elements = 0;
    Configuration configuration;  ///< configuration of the stage; empty for Thrust
    /// Ten times the compute capability for which the stage's text is emitted. Set only if the text targets
    /// older devices than the back end's.
    std::optional<int> compute_capability;
    std::optional<std::string> unmet;     ///< reason why the stage cannot run; later members are then not set
    std::optional<std::string> fault;     ///< fault that simt found; later members are then not set
    std::vector<Comparison> comparisons;  ///< comparison with the reference, then with Thrust if Thrust ran

    [[nodiscard]] bool failed() const;
};

/// A request for a check: the data, stages and layouts to run, and how to run them.
struct CheckRequest {
    WorkloadRequest workload;  ///< its layout is replaced by `layouts`
    std::vector<CheckLayout> layouts;
    std::vector<const Stage*> stages;
    /// Number of elements for each stage, if neither the layout nor the data give one. A stage without an
    /// entry uses workload.standard_elements.
    std::map<const Stage*, std::int64_t> elements = {};
    /// Values of tunables for every run. If empty, runs alternate between the usual configuration and the
    /// smallest one, from layout to layout and seed to seed. Some layouts run both, and also
    /// next_configuration(), once more with a text that targets the oldest devices and checks every table
    /// read.
    std::map<std::string, int> chosen;
    std::int64_t num_seeds = 1;
    std::vector<Law> assume = {};  ///< laws to rely on even if they are refuted
    prove::ProofOptions proof = {};
    bool until_failure = false;  ///< true: the first failure ends the runs of all stages
    /// Number of slices into which each stage's data are cut. If 0, the data stay in one piece, or are cut
    /// into one slice per device if `others` has devices.
    std::int64_t num_slices = 0;
    /// Further back ends of the same kind as the session's. Slices are dealt out to all of these devices.
    std::span<Backend* const> others = {};
    /// Ranks that all make this request, each in its own session. Every stage runs on all ranks, and each
    /// rank folds a share of the data. Rank 0 judges the laws.
    AgreedRanks* ranks = nullptr;

    /// Returns the largest number of elements of any stage.
    [[nodiscard]] std::int64_t most_elements() const;
    [[nodiscard]] bool is_spread() const { return num_slices != 0 || !others.empty() || ranks != nullptr; }
    /// Describes the division of the data, such as "4 ranks" or "7 slices on 3 devices". Empty if data stay
    /// in one piece.
    [[nodiscard]] std::string spread_text() const;
};

/// Fills in standard_layouts() and the number of elements for each stage: 2^20 on a GPU, otherwise 2^14 to
/// about 24600.
void take_standard_data(CheckRequest& request, const Operator& op, const Catalogue& catalogue,
                        const Backend& backend);

/// The outcomes of all runs, ordered by seed, then layout, then stage. Also tells how Thrust ran.
struct CheckMatrix {
    std::vector<CheckOutcome> outcomes;
    std::int64_t num_elements = 0;  ///< the largest number that any stage used
    std::string thrust;             ///< the system on which Thrust ran
    std::string without_thrust;     ///< sentence with the reason why Thrust did not run; empty if it ran

    [[nodiscard]] bool any_failed() const;
};

/// The first failure of a fold in parts, repeated with as few elements as possible.
struct SmallestFailure {
    CheckOutcome outcome;
    bool is_smaller = false;  ///< true if it has fewer elements than the original failure
};

/// Findings of a check.
struct Check {
    /// The operator's laws, judged by a long search, by proofs, and by the data of the first layout.
    OperatorLaws laws;
    CheckMatrix matrix;
    /// Inputs on which refuted laws change results, at most one input per law.
    std::vector<FaultInput> faults;
    /// The smallest input found on which a stage that ran in parts still fails.
    std::optional<SmallestFailure> smallest = {};
    /// False if the operator's identity is not sound. Then no stage ran.
    bool has_stages = true;

    /// True if every run agrees and the user assumes every refuted law.
    [[nodiscard]] bool is_well() const;
};

/// Judges an operator's laws, then runs stages on the session's back end. A fault of a kernel is noted in its
/// outcome and does not end the check.
///
/// Calls `progress` with a text before each step; `progress` may be empty. With ranks, all ranks must call
/// this function and all get the same outcomes, but only rank 0 judges laws and searches for inputs that show
/// faults. Throws InputError if the back end has no stages or the data cannot be built, and DeviceError if
/// the device fails.
[[nodiscard]] Check check_operator(Session& session, const Operator& op, const CheckRequest& request,
                                   const std::function<void(const std::string&)>& progress = {});

}  // namespace segfold::regress
