#pragma once
// The workloads of a bench, and their data on the host and on the measured device.
#include <memory>
#include <optional>
#include <vector>

#include "runtime/backends/timing.h"
#include "runtime/data/workload_request.h"

namespace segfold::bench {

/// One workload that a bench is asked for.
struct Case {
    Layout layout;
    std::optional<std::int64_t> num_elements;  ///< absent where files say
};

/// The layouts of `--sweep layouts`: whole, uniform from 1 to 2^20, the same lengths and one segment by
/// offsets, and the generated ones.
[[nodiscard]] std::vector<Case> standard_cases(std::int64_t num_elements);

/// One layout in every power of two from `from` to `to`.
[[nodiscard]] std::vector<Case> size_cases(const Layout& layout, std::int64_t from, std::int64_t to);

/// The most bytes that a workload of so many elements takes on the measured device, with keys and results for
/// peers.
[[nodiscard]] double most_bytes(const Operator& op, const Layout& layout, std::int64_t num_elements,
                                std::int64_t num_features = 1);

/// The length of segments that most_bytes() counts with: that of the layout, or one that makes many of them.
[[nodiscard]] std::int64_t counted_length(const Layout& layout, std::int64_t num_elements);

/// The data of one operator's workloads; columns stay loaded from one workload to the next while they
/// suffice.
class CaseData {
public:
    /// `timing` must outlive this object. `request` gives seed, values, input files and index width for all
    /// workloads.
    CaseData(Timing& timing, const Operator& op, WorkloadRequest request);

    /// A workload, and its arrays where they are measured. The workload has arrays of its own where it has at
    /// most kMostJudged elements, of rows numbers.
    struct Prepared {
        Workload workload;
        std::shared_ptr<const LoadedArrays> inputs;
        double seconds = 0;                     ///< of preparation
        std::vector<const std::byte*> columns;  ///< on the host, one for each parameter; at least as long as
                                                ///< the workload, valid until the next call
    };

    /// Elements are rounded down to a multiple of a uniform layout's length. Throws InputError where the
    /// operator cannot have the layout, DeviceError where the data does not fit.
    [[nodiscard]] Prepared prepare(const Case& asked);

private:
    [[nodiscard]] Prepared prepare_own(const Case& asked);
    [[nodiscard]] Prepared prepare_shared(const Layout& layout, std::int64_t num_elements);
    void provide(std::int64_t num_elements);
    /// Numbers of an element in a parameter's array.
    [[nodiscard]] std::int64_t width_of(std::size_t parameter) const;

    Timing& timing_;
    Operator op_;
    WorkloadRequest request_;
    std::int64_t num_features_;  ///< of rows that are generated
    bool shares_;                ///< columns do not depend on the layout
    std::vector<Array> arrays_;
    std::shared_ptr<const LoadedArrays> loaded_;
};

}  // namespace segfold::bench
