#pragma once
// The arguments of a fold in Python: columns, segments, arrays for results, and options.
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

/// The options of a fold: all arguments except arrays.
struct FoldWords {
    SessionChoice session;
    PlanOptions plan;
    bool check = false;
    std::optional<bool> sorts_keys = {};  ///< true: keys may be in any order; not part of `plan`
    /// Order of the results if keys may be in any order; none: ascending.
    std::optional<KeyOrder> key_order = {};
};

/// Converts the value of the keyword argument `word`. Throws TypeError that names the `wanted` type if the
/// value has another type, and InputError if an integer is too large.
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

/// Reads `assume=`: one name of a law, or several. Throws TypeError for a value that is not a name, and
/// InputError for an unknown name.
[[nodiscard]] std::vector<Law> assumed_laws(nb::handle value);

/// The arguments of a fold. The object keeps the caller's arrays alive.
class Call {
public:
    /// Reads the caller's arguments. Arrays come by position, by name or in one dictionary; all other
    /// arguments by name.
    ///
    /// `own_words` are keyword arguments that the caller of this constructor reads itself. Throws TypeError
    /// for unknown keyword arguments. Throws InputError for arrays that are wrong, or lie on different
    /// devices.
    Call(PyOperator& op, const nb::args& positional, const nb::kwargs& named,
         std::initializer_list<std::string_view> own_words = {});

    [[nodiscard]] const std::shared_ptr<TypedOperator>& typed() const { return typed_; }
    [[nodiscard]] const Operator& op() const { return typed_->op; }
    [[nodiscard]] const std::vector<ArrayView>& inputs() const { return inputs_; }
    [[nodiscard]] const SegmentsView& segments() const { return segments_; }
    [[nodiscard]] const FoldWords& words() const { return words_; }
    void set_words(const FoldWords& words) { words_ = words; }
    [[nodiscard]] std::int64_t num_elements() const { return num_elements_; }
    /// The length of rows; 1 for an operator without rows.
    [[nodiscard]] std::int64_t num_features() const { return num_features_; }
    [[nodiscard]] PlanOptions plan_options() const
    {
        auto options = words_.plan;
        options.num_features = num_features_;
        return options;
    }
    /// The shape of an array of `length` results.
    [[nodiscard]] ShapeOut shape_of(std::int64_t length) const
    {
        return {length, typed_->has_rows ? num_features_ : 0};
    }
    /// The first column. It decides the library of the results.
    [[nodiscard]] const ArrayIn& model() const { return arrays_[model_]; }
    [[nodiscard]] bool is_on_device() const { return model().view().place == Place::device; }
    /// The arrays that this object keeps alive. A fold that continues after the call takes them over.
    [[nodiscard]] std::vector<ArrayIn>& arrays() { return arrays_; }

    /// The names of the arrays that a fold writes; `keys` comes first if segments are given by one column of
    /// keys.
    [[nodiscard]] std::vector<std::string> field_names() const;
    /// The names of the returned arrays; `keys` comes first if segments are given by keys.
    [[nodiscard]] std::vector<std::string> result_names() const;
    /// True if the keys are several columns. The fold then gets flags that are made from the columns.
    [[nodiscard]] bool has_key_columns() const { return key_columns_.first.is_valid(); }
    /// Returns the keys of each segment if the keys are several columns, in the form of the caller's columns.
    [[nodiscard]] nb::object keys_of_segments() const;
    /// The caller's arrays for results, one for each of field_names(); empty if there are none.
    [[nodiscard]] const std::vector<ArrayIn>& out() const { return out_; }
    /// Moves out() into arrays(), for work that writes these arrays itself.
    void hold_out_among_arrays()
    {
        for (auto& array : out_)
            arrays_.push_back(std::move(array));
        out_.clear();
    }
    /// Returns advice for a failed check. Names the arguments that may be at fault (`assume=`, `kernels=`);
    /// if neither is given, names the refuted laws in `doubtful`.
    [[nodiscard]] std::string where_to_look(const std::vector<Law>& doubtful) const;
    /// True if the number of segments is unknown before the fold.
    [[nodiscard]] bool finds_segments() const
    {
        return segments_.kind == LayoutKind::keys || segments_.kind == LayoutKind::flags;
    }
    /// Replaces the segments by the offsets of `found`.
    void take_found(std::shared_ptr<const Segments> found)
    {
        found_ = std::move(found);
        segments_ = offsets(view_of(found_->offsets));
    }
    /// The segments given to take_found(); null before that call.
    [[nodiscard]] const std::shared_ptr<const Segments>& found() const { return found_; }
    /// Sets the number of groups if the call gives only the group of each element.
    void set_num_groups(std::optional<std::int64_t> num_groups)
    {
        if (segments_.kind == LayoutKind::groups && !segments_.num_groups)
            segments_.num_groups = num_groups;
    }
    /// Makes each distinct key a segment. On a GPU, replaces columns and keys by copies that are sorted by
    /// key. Throws InputError if segments are not given by keys, or if this operator's elements cannot be
    /// moved.
    void sort_by_keys();
    /// For groups on a GPU: checks the group numbers and counts the groups. If no kernel takes unsorted
    /// elements, replaces columns by copies that are sorted by group, and segments by the groups' ranges.
    void settle_groups_on_device(SessionCore& session);
    /// True after sort_by_keys().
    [[nodiscard]] bool is_sorted() const { return is_sorted_; }
    /// The segments for a fold on the host. If keys may be in any order, the fold itself sorts the elements.
    [[nodiscard]] SegmentsView segments_on_host() const
    {
        return is_sorted_ ? by(segments_.first, words_.key_order.value_or(KeyOrder::ascending)) : segments_;
    }
    /// Undoes the sort of elements on a GPU: returns an output in the original order of the elements. Returns
    /// it unchanged if no elements were sorted there.
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
    /// arrays hold different lists.
    void take_lists();
    /// Reads the segments from several columns of keys. An element begins a segment if any of its keys
    /// differs from that of the element before.
    void take_key_columns();
    /// Numbers the distinct keys, on the host. Elements with equal numbers form a group. Used for unsorted
    /// keys that are texts or several columns.
    void number_key_columns(nb::handle keys);
    [[nodiscard]] std::vector<std::string> names_of_fields(bool with_keys) const;
    void take_out();
    void require_one_place() const;

    std::shared_ptr<TypedOperator> typed_;
    std::vector<ArrayIn> arrays_;  ///< arrays of parameters, then of segments
    std::size_t model_ = 0;        ///< index in arrays_ of the first array that is not a scalar
    std::vector<std::string> labels_;
    std::vector<ArrayView> inputs_;
    SegmentsView segments_;
    std::shared_ptr<const Segments> found_;
    std::shared_ptr<const NumberedKeys> numbered_;  ///< owns the numbers of groups
    std::string_view segments_word_;
    std::vector<std::pair<std::string, nb::object>> segment_objects_;
    /// The columns of keys, and the flags made from them. For unsorted keys: the keys of the groups, without
    /// flags.
    std::pair<nb::object, nb::object> key_columns_;
    nb::object out_object_;
    std::vector<ArrayIn> out_;
    FoldWords words_;
    bool is_sorted_ = false;
    /// Place of each sorted element before the sort: an array of the caller's library on a GPU.
    nb::object device_places_;
    std::int64_t num_elements_ = 0;
    std::int64_t num_features_ = 1;
};

/// Warns once for each operator and type if a key comes back after other keys. `keys` lie on the host, or on
/// a GPU, where only the first keys are read.
void tell_of_keys(const Call& call, const Array& keys);
void tell_of_keys(const Call& call, const nb::object& keys);

/// The results of a call: one array, or a named tuple if there are several.
[[nodiscard]] nb::object results_of(const Call& call, std::vector<nb::object> arrays);

/// Folds the arrays of a call, on the host or on a GPU, and returns the results.
[[nodiscard]] nb::object fold(Call& call);

/// Makes a plan for arrays on a GPU and keeps it in `plans`. Reuses the program of a similar plan if there is
/// one. Needs no interpreter lock.
[[nodiscard]] std::shared_ptr<const KeptPlan> make_plan_on_device(Session& session, OperatorPlans& plans,
                                                                  const PlanKey& key,
                                                                  const SegmentsView& segments,
                                                                  const PlanOptions& options);

/// Runs `plan` on a GPU and returns the results.
[[nodiscard]] nb::object run_on_device(const Call& call, Plan& plan, Session& session, std::uintptr_t stream);

/// Returns the arrays and segments of a call on the host, for work that may outlive the call.
[[nodiscard]] std::shared_ptr<Fold> fold_of(const Call& call, Session& session);

/// Folds arrays in host memory with a session.
[[nodiscard]] nb::object fold_on_host(Call& call, const std::shared_ptr<Session>& session);

/// Runs a plan for arrays in host memory. Writes results to the caller's arrays, or to new ones.
[[nodiscard]] nb::object run_on_host(Call& call, const std::shared_ptr<Plan>& plan,
                                     const std::shared_ptr<Session>& session);

/// The number of segments. Call it only if the number is known before the fold.
[[nodiscard]] std::int64_t num_segments_of(const Call& call);

/// The length of the array of `typed->fields[field]` for this number of segments.
[[nodiscard]] inline std::int64_t length_of(const Call& call, std::size_t field, std::int64_t num_segments)
{
    return call.typed()->is_output(field) ? call.num_elements() : num_segments;
}

}  // namespace segfold::python
