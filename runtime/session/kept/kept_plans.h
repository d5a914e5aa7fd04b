#pragma once
// Plans that a session keeps of an operator for all who fold with it; internal.
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/data/segments.h"
#include "runtime/laws/operator_laws.h"
#include "runtime/laws/overflow_laws.h"
#include "runtime/session/plan.h"

namespace segfold {

class Backend;

/// What a kept plan is for.
struct PlanKey {
    LayoutKind kind = LayoutKind::whole;
    Type index = Type::i32;  ///< of the first array of segments
    std::int64_t num_elements = 0;
    std::int64_t num_features = 1;  ///< of rows
    std::int64_t num_entries = 0;   ///< of the first array of segments, or the uniform length
    bool is_on_device = false;
    std::uintptr_t stream = 0;
    std::string words;           ///< key_of() its options, and what its data and scalars ask for
    std::int64_t longest = 0;    ///< the longest segment of the host's arrays, where it was looked at
    std::uint64_t findings = 0;  ///< SessionCore::num_findings() when it was chosen
    int order_of_items = 0;      ///< bits of the number of items in all ranges of the host
    int index_bits = 0;          ///< that this number needs; 0 for others than ranges of the host

    /// A plan for such a call of `segments`; of the host's arrays more is to be filled in.
    PlanKey(const SegmentsView& segments, std::int64_t elements, const PlanOptions& options,
            std::uint64_t num_findings);

    bool operator==(const PlanKey&) const = default;
};

/// All that a plan depends on of its options, as a text; empty where nothing is asked for.
[[nodiscard]] std::string key_of(const PlanOptions& options);

/// A plan, and what folds by it say.
struct KeptPlan {
    KeptPlan(PlanKey made_for, Plan made);

    PlanKey key;
    std::shared_ptr<Plan> plan;
    std::int64_t num_segments;

    /// As Folded::plan().
    [[nodiscard]] const std::string& text() const;
};

/// The plan of a fold, and what its data change of it, as warnings.
struct PlannedFold {
    std::shared_ptr<const KeptPlan> kept = nullptr;
    std::vector<std::string> told = {};
};

/// What folds of an operator must look at to know what they may rely on.
struct FoldAsks {
    bool data = false;    ///< all data: no plan is kept
    bool finite = false;  ///< a plan is kept, and serves where the data are finite
    bool nan = false;     ///< a plan is kept, and serves where the data have no NaN
    /// A plan is kept, and serves folds whose data do not overflow, as far as these laws ask. Null: all.
    std::shared_ptr<const OperatorLaws> overflow = nullptr;
    std::shared_ptr<const SparedByOverflow> spared = nullptr;  ///< folds that are known not to; null: none
    /// The last fold that may; so may those of all its values and sizes. Null: none.
    std::shared_ptr<const SparedByOverflow> not_spared = nullptr;
    ScalarDoubt scalars = ScalarDoubt::none;
    std::uint64_t findings = 0;  ///< SessionCore::num_findings() when it was asked
};

/// The plans of an operator that were used last, and what is known of its folds. Several threads may use it.
/// It may outlive its session.
class OperatorPlans {
public:
    OperatorPlans(const Operator& of, std::shared_ptr<Backend> backend) : op(of), backend_(std::move(backend))
    {}

    const Operator op;

    /// The plan for `key`, or null.
    [[nodiscard]] std::shared_ptr<const KeptPlan> find(const PlanKey& key);
    /// A plan for sizes of the same order that runs elsewhere as `key` does, on the host for any sizes where
    /// there is none: its program can be resized, and on the host what it relies on is known. Or null.
    [[nodiscard]] std::shared_ptr<const KeptPlan> find_similar(const PlanKey& key);
    /// Waits for the GPU where it lets go of a plan, whose memory may be in use.
    void add(std::shared_ptr<const KeptPlan> plan);
    /// Lets go of all plans.
    void clear();
    [[nodiscard]] std::size_t size();

    /// What is known of folds with such scalars: a text where their values may mean other laws than those of
    /// all values, else empty. Nothing where nothing is.
    [[nodiscard]] std::optional<FoldAsks> asks(const std::string& scalars, std::uint64_t findings);
    void keep_asks(const std::string& scalars, const FoldAsks& known);

private:
    static constexpr std::size_t kMost = 64;
    static constexpr std::int64_t kMostScratchBytes = std::int64_t{4} << 30;  ///< but for the plan used last

    void let_go(const std::list<std::shared_ptr<const KeptPlan>>& gone) const;

    std::mutex mutex_;
    std::list<std::shared_ptr<const KeptPlan>> plans_;  ///< the one used last in front
    std::map<std::string, FoldAsks> asks_;              ///< by scalars
    std::shared_ptr<Backend> backend_;
};

/// A fold of arrays of the host. Work on it may go on when its caller has left it.
struct Fold {
    std::shared_ptr<OperatorPlans> of;
    std::vector<ArrayView> inputs;
    SegmentsView segments;
    std::int64_t num_elements = 0;
    PlanOptions options = {};
    std::shared_ptr<const Segments> found = {};  ///< of flags and keys: their offsets are `segments` then

    [[nodiscard]] const Operator& op() const { return of->op; }
    /// Goes on with the offsets of segments by flags or keys. Throws InputError where these are wrong.
    void find_segments();
};

/// Does work that goes through so many elements, kLongWork where it may compile. Work that is left behind
/// owns what it uses.
using Runner = std::function<void(std::int64_t num_elements, const std::function<void()>& work)>;
inline constexpr std::int64_t kLongWork = std::int64_t{1} << 62;

}  // namespace segfold
