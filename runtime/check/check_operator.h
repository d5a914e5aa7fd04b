#pragma once
// A check as a call: the laws of an operator, then every stage over every layout against reference and
// Thrust.
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "codegen/catalogue.h"
#include "runtime/check/fault_input.h"
#include "runtime/data/workload_request.h"
#include "runtime/judge/compare.h"
#include "runtime/laws/operator_laws.h"
#include "runtime/scale/ranks/agreed_ranks.h"
#include "runtime/session/session.h"

namespace segfold::regress {

/// A layout to check, under the name that its column has.
struct CheckLayout {
    std::string name;
    Layout layout;
    /// flags, keys: the segments given as these; ranges: from the last to the first, each one element too
    /// long; offsets: as they are
    std::optional<SegmentForm> recast = {};
    /// Recast segments: a quarter of them joined to one, and runs of empty ones before all, in the middle and
    /// behind all.
    bool has_runs = false;
};

/// How many elements a check of a stage takes where nobody says: `least`, or as many as make the loops of its
/// smallest plans go round, at most `most`. Then a few more, so that segments of one odd length suit, and all
/// elements are whole vectors.
std::int64_t elements_for(const Operator& op, const Stage& stage, const Catalogue& catalogue,
                          const Target& target, std::int64_t least, std::int64_t most);

/// Layouts that a stage may stumble over, without empty segments where the operator has no result for them.
std::vector<CheckLayout> standard_layouts(const Operator& op, std::int64_t num_elements);

/// Outcome of a stage (or of Thrust) over one layout, with one seed.
struct CheckOutcome {
    std::string stage;  ///< "thrust" for Thrust itself
    std::string layout;
    std::uint64_t seed = 0;
    std::int64_t num_elements = 0;
    Configuration configuration;          ///< of the stage; empty for Thrust
    std::optional<std::string> unmet;     ///< why it cannot serve; then there is no more
    std::optional<std::string> fault;     ///< fault that simt found; the other members are then unset
    std::vector<Comparison> comparisons;  ///< with the reference, then with Thrust if that ran

    [[nodiscard]] bool failed() const;
};

/// A check's wishes.
struct CheckRequest {
    WorkloadRequest workload;  ///< the layout is taken from `layouts`
    std::vector<CheckLayout> layouts;
    std::vector<const Stage*> stages;
    /// How many elements each stage takes where nobody says; others take workload.standard_elements.
    std::map<const Stage*, std::int64_t> elements = {};
    /// Values of tunables. Where there are none, two configurations take turns from layout to layout and from
    /// seed to seed: the one that a run takes, and the smallest. Over some layouts both run, and
    /// next_configuration().
    std::map<std::string, int> chosen;
    std::int64_t num_seeds = 1;
    std::vector<Law> assume = {};  ///< laws to rely on even if refuted
    prove::ProofOptions proof = {};
    bool until_failure = false;  ///< the first failure of a stage is the last outcome
    /// Slices in which every stage runs; 0: in one piece, or one for each device.
    std::int64_t num_slices = 0;
    /// Beside the session's, and of its kind: slices are dealt to all.
    std::span<Backend* const> others = {};
    /// That make the same request, each in a session of its own: every stage runs by them, each folds a
    /// share. The laws are judged by rank 0.
    AgreedRanks* ranks = nullptr;

    /// The most elements that a stage takes.
    [[nodiscard]] std::int64_t most_elements() const;
    [[nodiscard]] bool is_spread() const { return num_slices != 0 || !others.empty() || ranks != nullptr; }
    /// "4 ranks", "7 slices on 3 devices"; empty in one piece.
    [[nodiscard]] std::string spread_text() const;
};

/// Sizes the elements of each stage by its own need, 2^20 on a GPU, elsewhere from 2^14 to some 24600, and
/// takes standard_layouts().
void take_standard_data(CheckRequest& request, const Operator& op, const Catalogue& catalogue,
                        const Backend& backend);

/// The outcomes, seed by seed, layout by layout, stage by stage; and why Thrust had no say, if it had none.
struct CheckMatrix {
    std::vector<CheckOutcome> outcomes;
    std::int64_t num_elements = 0;  ///< the most of a stage
    std::string thrust;             ///< the device it ran on
    std::string without_thrust;     ///< one sentence; empty where Thrust ran

    [[nodiscard]] bool any_failed() const;
};

/// A failure over parts, made smaller.
struct SmallestFailure {
    CheckOutcome outcome;
    bool is_smaller = false;  ///< than the failure
};

/// A check's findings.
struct Check {
    OperatorLaws laws;  ///< judged by a long search and by proofs, and by the data of the first layout
    CheckMatrix matrix;
    std::vector<FaultInput> faults;  ///< for laws that are refuted, where a stage shows it
    /// Of the first failure of a stage over parts: the fewest elements that show it again.
    std::optional<SmallestFailure> smallest = {};
    bool has_stages = true;  ///< false without a sound identity: no stage was run

    /// True if every run agrees and no law is refuted, apart from laws that the user vouches for.
    [[nodiscard]] bool is_well() const;
};

/// Judges an operator's laws, then runs stages on the session's back end. A fault of a kernel is an outcome.
///
/// With ranks all of them call this, and have the same outcomes; laws and faults are rank 0's. Collective
/// then. `progress` is told each step; it may be empty. Throws InputError for a back end without stages and
/// for data that cannot be had, DeviceError where the device fails.
[[nodiscard]] Check check_operator(Session& session, const Operator& op, const CheckRequest& request,
                                   const std::function<void(const std::string&)>& progress = {});

}  // namespace segfold::regress
