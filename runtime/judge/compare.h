#pragma once
// Compares results with the right ones: where they differ, by how much, and for which data.
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

/// One result field of a segment, as two sides have it; texts are in the field's own type, shortest that
/// reads back.
struct ComparedField {
    std::string name;
    std::string actual;
    std::string expected;
    std::string other;            ///< names the other results; empty for the reference
    std::optional<double> error;  ///< distance from the wide-precision result; absent for exact operators
    std::optional<double> bound;  ///< how large the error may be
    bool wrong = false;
    bool overflowed = false;  ///< finite on one side alone, and nothing can be said of it (tolerance.h)
    /// Decimal digits that the data leave, if too few to judge the value by (tolerance.h).
    std::optional<double> digits_left = {};

    [[nodiscard]] bool unjudged() const { return digits_left.has_value(); }
};

/// The first and last elements of a column in a segment, at most eight each.
struct ComparedElements {
    std::string column;
    std::vector<std::string> first;
    std::vector<std::string> last;  ///< empty where `first` holds all elements
};

/// Findings on one segment; elements begin .. end - 1.
struct ComparedSegment {
    std::int64_t segment = 0;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    double ratio = 0;  ///< largest error in units of its bound; infinity if none is allowed
    std::vector<ComparedField> fields;
    std::vector<ComparedElements> elements;
};

/// The outcome of comparing results.
struct Comparison {
    bool bit_for_bit = false;  ///< agreement was asked for in every bit, else within bounds
    std::int64_t num_segments = 0;
    std::int64_t num_wrong = 0;
    std::string against;  ///< "the reference", or the name of the other results
    std::string culprit;  ///< the other results' name where those are wrong and the actual ones are not
    std::optional<ComparedSegment> first_wrong;
    std::optional<ComparedSegment>
        worst;  ///< largest ratio, right or wrong; absent when bit for bit or all equal

    /// Segments that are not wrong, but cannot be judged because values overflow on the way. Of several
    /// features, or of results and outputs: the largest such number.
    std::int64_t num_overflowed = 0;
    std::optional<ComparedSegment> first_overflowed;

    /// Segments beside these and the wrong ones that hold a value that cannot be judged: its bound is more
    /// than a quarter of it. Of several features, or of results and outputs, as with overflow.
    std::int64_t num_unjudged = 0;
    std::optional<ComparedSegment> first_unjudged;

    /// True if no segment is wrong. is_judged() says whether all could be judged.
    [[nodiscard]] bool agrees() const { return num_wrong == 0; }
    [[nodiscard]] bool is_judged() const { return num_overflowed == 0 && num_unjudged == 0; }
    /// Takes the other's segments with overflow, or with values that cannot be judged, if it has more of
    /// them.
    void take_unsaid(Comparison& other);
};

/// A report: one line when all agree, else the number of wrong segments, the first one with its
/// elements, and the worst one where that is another. Ends without a line break.
///
///     2 of 5000 segments are wrong, the first one:
///     segment 41 (elements 1203 to 1259, length 57): mean is 3.25, reference says 3.5, bound 2.1e-06
///         x: 1.5, 2, 3, 4, 5, 6, 7, 8, ..., 50, 51, 52, 53, 54, 55, 56, 57
std::string print(const Comparison& comparison);

/// The report's lines on segments with overflow; empty without any.
std::string print_overflow(const Comparison& comparison);

/// The report's lines on segments that cannot be judged; empty without any.
///
///     3 of 40 segments cannot be judged, the first one is segment 4 (elements 80 to 99, length 20): variance
///     is 1.25, reference says 1, bound 0.9: the data leave no digit
std::string print_unjudged(const Comparison& comparison);

/// Both in brief: "3 of 40 segments cannot be judged"; empty where all could be.
std::string unsaid_in_brief(const Comparison& comparison);

struct JudgeOptions {
    int threads = 0;           ///< 0: all
    std::uint64_t seed = 7;    ///< of the random choices behind the bounds
    bool bit_for_bit = false;  ///< ask for the reference's bits of a rounding operator too
    /// False: no order but that from left to right is right, and other orders widen no bound.
    bool is_associative = true;
};

class MappedJudge;

/// Holds the right answer of a workload and compares results with it, any number of times.
///
/// Exact operators (is_exact) are compared bit for bit with the reference in working precision; a NaN equals
/// any NaN, and -0 and 0 differ. All others are compared with the reference in wide precision, within bounds
/// measured on each segment that needs one (runtime/judge/tolerance.h).
class Judge {
public:
    /// Computes the reference. The workload must outlive the judge. Throws InputError if it cannot be run.
    explicit Judge(const Workload& workload, JudgeOptions options = {});
    ~Judge();
    Judge(Judge&&) noexcept;

    [[nodiscard]] bool bit_for_bit() const;

    /// The reference's results, rounded to their types.
    [[nodiscard]] Results reference() const;

    /// Compares results with the reference. Throws InternalError where fields, types or lengths are not the
    /// workload's.
    [[nodiscard]] Comparison compare(const Results& actual) const;

    /// Compares results with those of another back end, stage or plan, called `name` in messages.
    ///
    /// For exact operators both must have the same bits; the reference does not count. For others both must
    /// lie within their bounds of the reference.
    [[nodiscard]] Comparison compare(const Results& actual, const Results& other,
                                     const std::string& name) const;

private:
    [[nodiscard]] Comparison compare_segments(const Results& actual) const;
    [[nodiscard]] Comparison compare_segments(const Results& actual, const Results& other,
                                              const std::string& name) const;

    struct Feature;
    /// Hands each feature's judge to `compare`; the outcome is that of the first feature that is wrong, else
    /// of the one that lies closest to its bounds.
    [[nodiscard]] Comparison over_features(
        const std::function<Comparison(const Judge& judge, std::int64_t feature)>& compare) const;

    std::vector<std::unique_ptr<const Feature>>
        features_;                          ///< of an operator over rows; all else is empty then
    std::unique_ptr<const Workload> fold_;  ///< of an operator with a map: without it
    std::unique_ptr<const MappedJudge> mapped_;
    const Operator& op_;
    const Workload& workload_;  ///< of the fold
    JudgeOptions options_;
    Bytecode bytecode_;
    OperatorInputs inputs_;
    bool bit_for_bit_;
    Results exact_;     ///< when bit for bit
    WideResults wide_;  ///< when not
};

/// Place and elements of a segment; the fields are left to be filled.
ComparedSegment describe_segment(const Workload& workload, std::int64_t segment);

/// True if element `i` of both arrays has the same bits; any two NaNs count as the same.
bool same_bits(const Array& left, const Array& right, std::int64_t i);

/// Compares results with the reference, once.
Comparison compare(const Workload& workload, const Results& actual, JudgeOptions options = {});

}  // namespace segfold
