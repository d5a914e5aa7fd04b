#pragma once
// The arguments of a fold in Python: columns, segments, output arrays and options.
#include <fmt/format.h>

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "dsl/error.h"
#include "runtime/data/groups.h"
#include "runtime/python/bind/arrays/array_out.h"
#include "runtime/python/bind/names.h"
#include "runtime/python/bind/operator.h"

namespace segfold {
class SessionCore;
}

namespace segfold::python {

/// The options of a fold, which are all arguments except arrays.
struct FoldWords {
    SessionChoice session;
    PlanOptions plan;
    bool check = false;
    std::optional<bool> sorts_keys = {};  ///< true: keys may be in any order; not a part of `plan`
    /// Order of the results if keys may be in any order. Empty means ascending.
    std::optional<KeyOrder> key_order = {};
};

/// Converts the value of the keyword argument `word`. Throws TypeError if the value has the wrong type; the
/// message names the right one, `wanted`. Throws InputError if an integer is too large.
template <class T>
T value_of(std::string_view word, nb::handle value, const char* wanted)
{
    T result{};
    if (nb::try_cast(value, result))
        return result;
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
        if (PyLong_Check(value.ptr()) && (std::is_signed_v<T> || value > nb::int_(0)))
            throw InputError(fmt::format("{}= is {}; it is {}, from {} to {}", word, text_of(nb::repr(value)),
                                         wanted, std::numeric_limits<T>::min(),
                                         std::numeric_limits<T>::max()));
    throw nb::type_error(
        fmt::format("{}= takes {}, and {} is given", word, wanted, text_of(nb::repr(value))).c_str());
}

/// Reads `assume=`, the name of a law or several names. Throws TypeError for values that are not names, and
/// InputError for unknown names.
[[nodiscard]] std::vector<Law> assumed_laws(nb::handle value);

/// The arguments of a fold. This object keeps the caller's arrays alive.
class Call {
public:
    /// Reads the caller's arguments. Arrays may be given by position, by name or in one dictionary; other
    /// arguments are given by name.
    ///
    /// `own_words` are keyword arguments that the caller of this constructor reads. Throws TypeError for
    /// unknown keyword arguments. Throws InputError for invalid arrays and for arrays on different devices.
    Call(PyOperator& op, const nb::args& positional, const nb::kwargs& named,
         std::initializer_list<std::string_view> own_words = {});

    [[nodiscard]] const std::shared_ptr<TypedOperator>& typed() const { return typed_; }
    [[nodiscard]] const Operator& op() const { return typed_->op; }
    [[nodiscard]] const std::vector<ArrayView>& inputs() const { return inputs_; }
    [[nodiscard]] const SegmentsView& segments() const { return segments_; }
    [[nodiscard]] const FoldWords& words() const { return words_; }
    void set_words(const FoldWords& words) { words_ = words; }
    [[nodiscard]] std::int64_t num_elements() const { return num_elements_; }
    /// Returns the number of features in a row; 1 for an operator without rows.
    [[nodiscard]] std::int64_t num_features() const { return num_features_; }
    [[nodiscard]] PlanOptions plan_options() const
    {
        auto options = words_.plan;
        options.num_features = num_features_;
        return options;
    }
    /// Returns the shape of an array with `length` results.
    [[nodiscard]] ShapeOut shape_of(std::int64_t length) const
    {
        return {length, typed_->has_rows ? num_features_ : 0};
    }
    /// Returns the first column. Results are arrays of the same library.
    [[nodiscard]] const ArrayIn& model() const { return arrays_[model_]; }
    [[nodiscard]] bool is_on_device() const { return model().view().place == Place::device; }
    /// Returns the arrays that this object keeps alive. A fold that continues after the call must take them
    /// over.
    [[nodiscard]] std::vector<ArrayIn>& arrays() { return arrays_; }

    /// Returns the names of the arrays that a fold writes. If segments are given by one column of keys, the
    /// first name is `keys`.
    [[nodiscard]] std::vector<std::string> field_names() const;
    /// Returns the names of the returned arrays. If segments are given by keys, the first name is `keys`.
    [[nodiscard]] std::vector<std::string> result_names() const;
    /// True if keys are given as several columns. The fold then gets flags computed from these columns.
    [[nodiscard]] bool has_key_columns() const { return key_columns_.first.is_valid(); }
    /// Returns the keys of each segment if keys are given as several columns. They have the form of the
    /// caller's columns.
    [[nodiscard]] nb::object keys_of_segments() const;
    /// Returns the caller's arrays for results, one per entry of field_names(); empty if the caller gave
    /// none.
    [[nodiscard]] const std::vector<ArrayIn>& out() const { return out_; }
    /// Moves out() to the end of arrays(), for work that writes these arrays itself.
    void hold_out_among_arrays()
    {
        for (auto& array : out_)
            arrays_.push_back(std::move(array));
        out_.clear();
    }
    /// Returns advice for a failed check. It names the arguments that may be the cause (`assume=`,
    /// `kernels=`); if neither was given, it names the refuted laws in `doubtful`.
    [[nodiscard]] std::string where_to_look(const std::vector<Law>& doubtful) const;
    /// True if the number of segments is not known before the fold.
    [[nodiscard]] bool finds_segments() const
    {
        return segments_.kind == LayoutKind::keys || segments_.kind == LayoutKind::flags;
    }
    /// Replaces the segments by the offsets in `found`.
    void take_found(std::shared_ptr<const Segments> found)
    {
        found_ = std::move(found);
        segments_ = offsets(view_of(found_->offsets));
    }
    /// Returns the segments passed to take_found(); null before that call.
    [[nodiscard]] const std::shared_ptr<const Segments>& found() const { return found_; }
    /// Sets the number of groups, if segments are given as groups without `num_groups=`.
    void set_num_groups(std::optional<std::int64_t> num_groups)
    {
        if (segments_.kind == LayoutKind::groups && !segments_.num_groups)
            segments_.num_groups = num_groups;
    }
    /// Makes one segment of each distinct key. On a GPU, replaces columns and keys by copies sorted by key.
    /// Throws InputError if segments are not given by keys, or if the elements of this operator cannot be
    /// reordered.
    void sort_by_keys();
    /// For groups on a GPU: checks the group numbers, and counts the groups if necessary. If no kernel
    /// supports unsorted elements, replaces columns by copies sorted by group, and segments by ranges.
    void settle_groups_on_device(SessionCore& session);
    /// True if sort_by_keys() has been called.
    [[nodiscard]] bool is_sorted() const { return is_sorted_; }
    /// Returns the segments for a fold on the host. If keys may be in any order, the fold itself sorts the
    /// elements.
    [[nodiscard]] SegmentsView segments_on_host() const
    {
        return is_sorted_ ? by(segments_.first, words_.key_order.value_or(KeyOrder::ascending)) : segments_;
    }
    /// Returns an output on a GPU in the original order of the elements. Returns it unchanged if elements
    /// were not sorted there.
    [[nodiscard]] nb::object put_back_on_device(nb::object array) const;
    /// True if the results include the key of each segment.
    [[nodiscard]] bool gives_keys() const
    {
        return segments_.kind == LayoutKind::keys || (found_ && found_->keys);
    }

private:
    void take_word(std::string_view word, nb::handle value);
    void take_segments(LayoutKind kind, std::string_view word, nb::handle value);
    void take_columns(PyOperator& op, const std::vector<nb::object>& columns);
    /// Reads the segments from arrays of lists. Throws InputError if an argument gives segments too, or if
    /// arrays have different lists.
    void take_lists();
    /// Reads the segments from several key columns. An element begins a segment if any of its keys differs
    /// from the previous element's.
    void take_key_columns();
    /// Numbers the distinct keys on the host, so that elements with equal keys form a group. Used for
    /// unsorted keys that are texts or several columns.
    void number_key_columns(nb::handle keys);
    [[nodiscard]] std::vector<std::string> names_of_fields(bool with_keys) const;
    void take_out();
    void require_one_place() const;

    std::shared_ptr<TypedOperator> typed_;
    std::vector<ArrayIn> arrays_;  ///< arrays of the parameters, then of the segments
    std::size_t model_ = 0;        ///< index in arrays_ of the first array that is not a scalar
    std::vector<std::string> labels_;
    std::vector<ArrayView> inputs_;
    SegmentsView segments_;
    std::shared_ptr<const Segments> found_;
    std::shared_ptr<const NumberedKeys> numbered_;  ///< owns the group numbers
    std::string_view segments_word_;
    std::vector<std::pair<std::string, nb::object>> segment_objects_;
    /// The key columns, and the flags computed from them. For unsorted keys, the keys of the groups, without
    /// flags.
    std::pair<nb::object, nb::object> key_columns_;
    nb::object out_object_;
    std::vector<ArrayIn> out_;
    FoldWords words_;
    bool is_sorted_ = false;
    /// Original index of each sorted element. An array of the caller's library on a GPU.
    nb::object device_places_;
    std::int64_t num_elements_ = 0;
    std::int64_t num_features_ = 1;
};

/// Warns if equal keys occur in separate places, once for each operator and type. `keys` are on the host or
/// on a GPU; on a GPU, only the first keys are read.
void tell_of_keys(const Call& call, const Array& keys);
void tell_of_keys(const Call& call, const nb::object& keys);

/// Returns the results of a call: one array, or a named tuple if there are several.
[[nodiscard]] nb::object results_of(const Call& call, std::vector<nb::object> arrays);

/// Folds the arrays of a call and returns the results. The arrays may be on the host or on a GPU.
[[nodiscard]] nb::object fold(Call& call);

/// Makes a plan for arrays on a GPU and stores it in `plans`. Reuses the program of a similar plan if there
/// is one. Does not need the interpreter's lock.
[[nodiscard]] std::shared_ptr<const KeptPlan> make_plan_on_device(Session& session, OperatorPlans& plans,
                                                                  const PlanKey& key,
                                                                  const SegmentsView& segments,
                                                                  const PlanOptions& options);

/// Runs `plan` on a GPU and returns the results.
[[nodiscard]] nb::object run_on_device(const Call& call, Plan& plan, Session& session, std::uintptr_t stream);

/// Returns the fold of a call on the host. It owns everything it needs, so it may outlive the call.
[[nodiscard]] std::shared_ptr<Fold> fold_of(const Call& call, Session& session);

/// Folds the arrays of a call in host memory.
[[nodiscard]] nb::object fold_on_host(Call& call, const std::shared_ptr<Session>& session);

/// Runs a plan on arrays in host memory. Writes results to the caller's arrays, or to new ones.
[[nodiscard]] nb::object run_on_host(Call& call, const std::shared_ptr<Plan>& plan,
                                     const std::shared_ptr<Session>& session);

/// Returns the number of segments. May be called only if this number is known before the fold.
[[nodiscard]] std::int64_t num_segments_of(const Call& call);

/// Returns the length of the array for `typed->fields[field]`.
[[nodiscard]] inline std::int64_t length_of(const Call& call, std::size_t field, std::int64_t num_segments)
{
    return call.typed()->is_output(field) ? call.num_elements() : num_segments;
}

}  // namespace segfold::python
