#pragma once
// The workloads of a bench. Their data are held in host memory and in the memory where they are measured.
#include <memory>
#include <optional>
#include <vector>

#include "runtime/backends/timing.h"
#include "runtime/data/workload_request.h"

namespace segfold::bench {

/// A workload that a bench measures.
struct Case {
    Layout layout;
    std::optional<std::int64_t> num_elements;  ///< absent if files determine it
};

/// Returns the layouts of `--sweep layouts`: whole; uniform segments of length 1 to 2^20; offsets with the
/// same lengths, and with one segment; generated layouts.
[[nodiscard]] std::vector<Case> standard_cases(std::int64_t num_elements);

/// Returns cases of one layout. Their numbers of elements are the powers of two from `from` to `to`.
[[nodiscard]] std::vector<Case> size_cases(const Layout& layout, std::int64_t from, std::int64_t to);

/// Returns an upper bound on the bytes that a workload needs in the memory where it is measured, with the
/// keys and results of peers.
[[nodiscard]] double most_bytes(const Operator& op, const Layout& layout, std::int64_t num_elements,
                                std::int64_t num_features = 1);

/// Returns the mean segment length that most_bytes() assumes: the layout's own, or a short one, so that there
/// are many segments.
[[nodiscard]] std::int64_t counted_length(const Layout& layout, std::int64_t num_elements);

/// Makes the data of one operator's workloads. Columns that are long enough are kept for the next workload.
class CaseData {
public:
    /// `timing` must outlive this object. `request` gives the seed, values, input files and index width of
    /// all workloads.
    CaseData(Timing& timing, const Operator& op, WorkloadRequest request);

    /// A workload, and its arrays in the memory where it is measured. `workload` has arrays only if it has at
    /// most kMostJudged elements (numbers, if elements are rows).
    struct Prepared {
        Workload workload;
        std::shared_ptr<const LoadedArrays> inputs;
        double seconds = 0;  ///< seconds spent on preparation
        /// Columns in host memory, one per parameter, at least as long as the workload. Valid until the next
        /// prepare().
        std::vector<const std::byte*> columns;
    };

    /// Prepares a workload. For a uniform layout, rounds the number of elements down to a multiple of the
    /// segment length. Throws InputError if the operator does not support the layout, and DeviceError if the
    /// data do not fit.
    [[nodiscard]] Prepared prepare(const Case& asked);

private:
    [[nodiscard]] Prepared prepare_own(const Case& asked);
    [[nodiscard]] Prepared prepare_shared(const Layout& layout, std::int64_t num_elements);
    void provide(std::int64_t num_elements);
    /// Returns how many numbers a parameter's array has per element.
    [[nodiscard]] std::int64_t width_of(std::size_t parameter) const;

    Timing& timing_;
    Operator op_;
    WorkloadRequest request_;
    std::int64_t num_features_;  ///< length of generated rows
    /// True if columns do not depend on the layout, so that workloads share them.
    bool shares_;
    std::vector<Array> arrays_;
    std::shared_ptr<const LoadedArrays> loaded_;
};

}  // namespace segfold::bench
