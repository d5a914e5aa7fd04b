#pragma once
// The workloads of a bench, with their data in host memory and in the memory where they are measured.
#include <memory>
#include <optional>
#include <vector>

#include "runtime/backends/timing.h"
#include "runtime/data/workload_request.h"

namespace segfold::bench {

/// One workload requested of a bench.
struct Case {
    Layout layout;
    std::optional<std::int64_t> num_elements;  ///< absent if files determine it
};

/// Returns the layouts of `--sweep layouts`: whole; uniform with lengths from 1 to 2^20; offsets with the
/// same lengths, and with one segment; the generated layouts.
[[nodiscard]] std::vector<Case> standard_cases(std::int64_t num_elements);

/// Returns cases of one layout whose numbers of elements are the powers of two from `from` to `to`.
[[nodiscard]] std::vector<Case> size_cases(const Layout& layout, std::int64_t from, std::int64_t to);

/// Returns the most bytes that a workload needs in the memory where it is measured, including keys and
/// results for peers.
[[nodiscard]] double most_bytes(const Operator& op, const Layout& layout, std::int64_t num_elements,
                                std::int64_t num_features = 1);

/// Returns the segment length that most_bytes() assumes: the layout's own, or a short length for many
/// segments.
[[nodiscard]] std::int64_t counted_length(const Layout& layout, std::int64_t num_elements);

/// Data of the workloads of one operator. Columns stay loaded for the next workload if they are long enough.
class CaseData {
public:
    /// `timing` must outlive this object. `request` sets seed, values, input files and index width of all
    /// workloads.
    CaseData(Timing& timing, const Operator& op, WorkloadRequest request);

    /// A workload, with its arrays in the memory where it is measured. The workload itself has arrays only if
    /// it has at most kMostJudged elements (numbers, if elements are rows).
    struct Prepared {
        Workload workload;
        std::shared_ptr<const LoadedArrays> inputs;
        double seconds = 0;  ///< seconds of preparation
        /// Columns in host memory, one per parameter, at least as long as the workload. Valid until the next
        /// call.
        std::vector<const std::byte*> columns;
    };

    /// Prepares a workload. A uniform layout rounds the number of elements down to a multiple of its length.
    /// Throws InputError if the operator cannot have the layout, DeviceError if the data do not fit.
    [[nodiscard]] Prepared prepare(const Case& asked);

private:
    [[nodiscard]] Prepared prepare_own(const Case& asked);
    [[nodiscard]] Prepared prepare_shared(const Layout& layout, std::int64_t num_elements);
    void provide(std::int64_t num_elements);
    /// Returns how many numbers an element has in a parameter's array.
    [[nodiscard]] std::int64_t width_of(std::size_t parameter) const;

    Timing& timing_;
    Operator op_;
    WorkloadRequest request_;
    std::int64_t num_features_;  ///< length of generated rows
    bool shares_;                ///< true if the layout does not change the columns
    std::vector<Array> arrays_;
    std::shared_ptr<const LoadedArrays> loaded_;
};

}  // namespace segfold::bench
