#pragma once
// Compares results with the reference: which segments differ, by how much, and on which data.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dsl/evaluation/bytecode.h"
#include "runtime/data/workload.h"
#include "runtime/judge/reference.h"

namespace segfold {

/// One result field of a segment. Each text is the shortest that reads back as the same value of the field's
/// type.
struct ComparedField {
    std::string name;
    std::string actual;
    std::string expected;
    /// Value of the other results, if actual results are also compared with other results; else empty.
    std::string other;
    std::optional<double> error;  ///< distance from the wide-precision result; absent for exact operators
    std::optional<double> bound;  ///< the largest error allowed
    bool wrong = false;
    /// True if the actual or the expected value overflows, the other one is finite, and neither is certainly
    /// wrong (tolerance.h).
    bool overflowed = false;
    /// The number of decimal digits that the data determine, if they are too few to judge the value
    /// (tolerance.h); empty if the value can be judged.
    std::optional<double> digits_left = {};

    [[nodiscard]] bool unjudged() const { return digits_left.has_value(); }
};

/// The first and last elements of a column in a segment, at most eight of each.
struct ComparedElements {
    std::string column;
    std::vector<std::string> first;
    std::vector<std::string> last;  ///< empty if `first` holds all elements
};

/// A segment with its compared values. The segment has the elements from `begin` to `end` - 1.
struct ComparedSegment {
    std::int64_t segment = 0;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    double ratio = 0;  ///< largest error divided by its bound; infinity if no error was allowed
    std::vector<ComparedField> fields;
    std::vector<ComparedElements> elements;
};

/// The outcome of comparing results.
struct Comparison {
    bool bit_for_bit = false;  ///< true if all bits must be equal, false if values must lie within bounds
    std::int64_t num_segments = 0;
    std::int64_t num_wrong = 0;
    std::string against;  ///< "the reference", or the name of the other results
    /// Name of the other results if these are wrong and the actual results are right; else empty.
    std::string culprit;
    std::optional<ComparedSegment> first_wrong;
    /// Segment with the largest ratio, right or wrong; absent if results are compared bit for bit or all are
    /// equal.
    std::optional<ComparedSegment> worst;

    /// Number of segments that are neither right nor wrong, because intermediate values overflow. Features
    /// are counted separately, and so are results and outputs; this is the largest of these numbers.
    std::int64_t num_overflowed = 0;
    std::optional<ComparedSegment> first_overflowed;

    /// Number of other segments without a wrong value, but with a value that cannot be judged because its
    /// bound exceeds a quarter of it. This is the largest of several numbers, as for num_overflowed.
    std::int64_t num_unjudged = 0;
    std::optional<ComparedSegment> first_unjudged;

    /// True if no segment is wrong, even if some segments cannot be judged; see is_judged().
    [[nodiscard]] bool agrees() const { return num_wrong == 0; }
    [[nodiscard]] bool is_judged() const { return num_overflowed == 0 && num_unjudged == 0; }
    /// Takes the number of overflowed segments, and the first of them, from `other` if that number is larger.
    /// Does the same for unjudged segments.
    void take_unsaid(Comparison& other);
};

/// Returns a report without a final line break. If all segments agree, the report is one line. If not, it has
/// the number of wrong segments, the first wrong segment with its elements, and the worst segment if it is
/// another one.
///
///     2 of 5000 segments are wrong, the first one:
///     segment 41 (elements 1203 to 1259, length 57): mean is 3.25, reference says 3.5, bound 2.1e-06
///         x: 1.5, 2, 3, 4, 5, 6, 7, 8, ..., 50, 51, 52, 53, 54, 55, 56, 57
std::string print(const Comparison& comparison);

/// Returns the report's sentence on overflowed segments; empty if there are none.
std::string print_overflow(const Comparison& comparison);

/// Returns the report's sentence on segments that cannot be judged; empty if there are none.
///
///     3 of 40 segments cannot be judged, the first one is segment 4 (elements 80 to 99, length 20): variance
///     is 1.25, reference says 1, bound 0.9: the data leave no digit
std::string print_unjudged(const Comparison& comparison);

/// Returns the number of overflowed and unjudged segments as text, e.g. "3 of 40 segments cannot be judged";
/// empty if there are none.
std::string unsaid_in_brief(const Comparison& comparison);

struct JudgeOptions {
    int threads = 0;         ///< 0 means all cores
    std::uint64_t seed = 7;  ///< seed of the random folds behind the bounds
    /// If true, results must have the reference's bits even if the operator rounds.
    bool bit_for_bit = false;
    /// If false, only a fold from left to right is right, so folds in other orders do not widen bounds.
    bool is_associative = true;
};

class MappedJudge;

/// Holds the reference results of a workload, and compares any number of results with them.
///
/// Exact operators (is_exact) are compared bit for bit with the reference in working precision; a NaN equals
/// any NaN, and -0 and 0 differ. All other operators are compared with the reference in wide precision,
/// within bounds measured on each segment that needs one (runtime/judge/tolerance.h).
class Judge {
public:
    /// Computes the reference. The workload must outlive the judge. Throws InputError if the workload cannot
    /// be run.
    explicit Judge(const Workload& workload, JudgeOptions options = {});
    ~Judge();
    Judge(Judge&&) noexcept;

    [[nodiscard]] bool bit_for_bit() const;

    /// Returns the reference's results, rounded to their types.
    [[nodiscard]] Results reference() const;

    /// Compares results with the reference. Throws InternalError if the fields, types or lengths do not fit
    /// the workload.
    [[nodiscard]] Comparison compare(const Results& actual) const;

    /// Compares results with the results of another back end, stage or plan, which messages call `name`.
    ///
    /// For exact operators, actual and other results must have the same bits; the reference is not used. For
    /// all other operators, actual and other results must lie within their bounds of the reference.
    [[nodiscard]] Comparison compare(const Results& actual, const Results& other,
                                     const std::string& name) const;

private:
    [[nodiscard]] Comparison compare_segments(const Results& actual) const;
    [[nodiscard]] Comparison compare_segments(const Results& actual, const Results& other,
                                              const std::string& name) const;

    struct Feature;
    /// Calls `compare` for each feature. Returns the comparison of the first wrong feature, or, if none is
    /// wrong, of the feature closest to its bounds.
    [[nodiscard]] Comparison over_features(
        const std::function<Comparison(const Judge& judge, std::int64_t feature)>& compare) const;

    /// One entry for each feature, if the operator has row parameters; the members below then stay empty.
    std::vector<std::unique_ptr<const Feature>> features_;
    /// The workload without its outputs; null if the operator has no outputs.
    std::unique_ptr<const Workload> fold_;
    std::unique_ptr<const MappedJudge> mapped_;
    const Operator& op_;
    const Workload& workload_;  ///< the workload that is folded
    JudgeOptions options_;
    Bytecode bytecode_;
    OperatorInputs inputs_;
    bool bit_for_bit_;
    Results exact_;     ///< set if bit_for_bit_ is true
    WideResults wide_;  ///< set if bit_for_bit_ is false
};

/// Returns the place and elements of a segment, without the result fields.
ComparedSegment describe_segment(const Workload& workload, std::int64_t segment);

/// True if element `i` of both arrays has the same bits. Any two NaNs count as the same.
bool same_bits(const Array& left, const Array& right, std::int64_t i);

/// Makes a judge and compares results with the reference once.
Comparison compare(const Workload& workload, const Results& actual, JudgeOptions options = {});

}  // namespace segfold
