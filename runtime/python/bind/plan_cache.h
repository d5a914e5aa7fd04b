#pragma once
// Plans that calls have made, by what they are for.
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "runtime/python/bind/sessions.h"
#include "runtime/session/plan.h"

namespace segfold::python {

/// What a caller decides of a fold, apart from arrays.
struct FoldWords {
    SessionChoice session;
    PlanRequest request;
    std::int64_t longest = 0;
    bool check = false;
    bool validates_segments = false;
    bool trusts_tables = false;
    bool assumes_finite = false;
    std::optional<bool> sorts_keys = {};  ///< before the fold, so that a plan knows nothing of it

    [[nodiscard]] PlanOptions plan_options(std::int64_t num_features) const;
    /// All that a plan depends on, as a text; empty where nothing is asked for.
    [[nodiscard]] std::string key() const;
};

/// What a cached plan is for.
struct PlanKey {
    static constexpr int kHost = -1;

    LayoutKind kind = LayoutKind::whole;
    Type index = Type::i32;  ///< of the first array of segments
    std::int64_t num_elements = 0;
    std::int64_t num_features = 1;  ///< of rows
    std::int64_t num_entries = 0;   ///< of the first array of segments, or the uniform length
    int device = 0;                 ///< a GPU's ordinal, or kHost
    std::uintptr_t stream = 0;
    std::string words;
    std::int64_t longest = 0;    ///< the longest segment of the host's arrays, where it was looked at
    std::uint64_t findings = 0;  ///< num_findings() when it was chosen
    int order_of_items = 0;      ///< bits of the number of items in all ranges of the host
    int index_bits = 0;          ///< that this number needs; 0 for others than ranges of the host

    bool operator==(const PlanKey&) const = default;
};

/// The plans used last, with the sessions that they belong to. Several threads may use it.
class PlanCache {
public:
    struct Entry {
        PlanKey key;
        std::shared_ptr<Session> session;
        std::shared_ptr<Plan> plan;
    };

    /// The plan for `key`, or null.
    [[nodiscard]] std::shared_ptr<const Entry> find(const PlanKey& key);
    /// A plan for sizes of the same order that runs elsewhere as `key` does, on the host for any sizes where
    /// there is none: its program can be resized, and on the host what it relies on is known. Or null.
    [[nodiscard]] std::shared_ptr<const Entry> find_similar(const PlanKey& key);
    /// Waits for the GPU where it lets go of a plan, whose memory may be in use.
    void add(std::shared_ptr<const Entry> entry);
    /// Lets go of all plans.
    void clear();
    [[nodiscard]] std::size_t size();

private:
    static constexpr std::size_t kMost = 64;
    static constexpr std::int64_t kMostScratchBytes = std::int64_t{4} << 30;  ///< but for the plan used last

    std::mutex mutex_;
    std::list<std::shared_ptr<const Entry>> entries_;  ///< the one used last in front
};

}  // namespace segfold::python
