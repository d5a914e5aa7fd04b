#pragma once
// What a caller writes between the parentheses of a fold: columns, segments, where results go, how it is
// done.
#include <fmt/format.h>

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "dsl/error.h"
#include "runtime/python/bind/arrays/array_out.h"
#include "runtime/python/bind/names.h"
#include "runtime/python/bind/operator.h"

namespace segfold::python {

/// What a caller decides of a fold, apart from arrays.
struct FoldWords {
    SessionChoice session;
    PlanOptions plan;
    bool check = false;
    std::optional<bool> sorts_keys = {};  ///< before the fold, so that a plan knows nothing of it
};

/// The value of a word of a call; TypeError says that it takes `wanted`, InputError that an integer is too
/// large.
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

/// The laws that `assume=` names: one name, or several. Throws TypeError for what is no name, InputError for
/// names of no law.
[[nodiscard]] std::vector<Law> assumed_laws(nb::handle value);

/// The arguments of a fold, with the caller's arrays held.
class Call {
public:
    /// Arrays by position, by name, or in one dictionary; everything else by name.
    ///
    /// `own_words` are further keyword arguments that the caller of this constructor reads itself. Throws
    /// TypeError for words that nobody knows, InputError for arrays that are wrong or do not lie together.
    Call(PyOperator& op, const nb::args& positional, const nb::kwargs& named,
         std::initializer_list<std::string_view> own_words = {});

    [[nodiscard]] const std::shared_ptr<TypedOperator>& typed() const { return typed_; }
    [[nodiscard]] const Operator& op() const { return typed_->op; }
    [[nodiscard]] const std::vector<ArrayView>& inputs() const { return inputs_; }
    [[nodiscard]] const SegmentsView& segments() const { return segments_; }
    [[nodiscard]] const FoldWords& words() const { return words_; }
    void set_words(const FoldWords& words) { words_ = words; }
    [[nodiscard]] std::int64_t num_elements() const { return num_elements_; }
    /// Numbers of each row; 1 for an operator without rows.
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
    /// The first column, whose kind the results have.
    [[nodiscard]] const ArrayIn& model() const { return arrays_[model_]; }
    [[nodiscard]] bool is_on_device() const { return model().view().place == Place::device; }
    /// The arrays that are held; a fold that is left behind takes them over.
    [[nodiscard]] std::vector<ArrayIn>& arrays() { return arrays_; }

    /// The names of what a fold writes: `keys` first where segments are given by one column of keys.
    [[nodiscard]] std::vector<std::string> field_names() const;
    /// The names of what is returned: `keys` first where segments are given by keys.
    [[nodiscard]] std::vector<std::string> result_names() const;
    /// Whether keys are several columns, which the fold sees as flags.
    [[nodiscard]] bool has_key_columns() const { return key_columns_.first.is_valid(); }
    /// Of several columns: the keys of each segment, in columns as the caller's.
    [[nodiscard]] nb::object keys_of_segments() const;
    /// The caller's arrays for results, one for each of field_names(); empty without.
    [[nodiscard]] const std::vector<ArrayIn>& out() const { return out_; }
    /// Puts them among arrays(), for work that writes them itself.
    void hold_out_among_arrays()
    {
        for (auto& array : out_)
            arrays_.push_back(std::move(array));
        out_.clear();
    }
    /// Of a check that has failed: what the caller answers for, and otherwise the laws, of which those of
    /// `doubtful` are known to be refuted.
    [[nodiscard]] std::string where_to_look(const std::vector<Law>& doubtful) const;
    /// True where the number of segments is not known before the fold.
    [[nodiscard]] bool finds_segments() const
    {
        return segments_.kind == LayoutKind::keys || segments_.kind == LayoutKind::flags;
    }
    /// Goes on with the offsets of segments that were found.
    void take_found(std::shared_ptr<const Segments> found)
    {
        found_ = std::move(found);
        const auto& places = found_->offsets;
        segments_ = offsets({places.type(), places.data(), static_cast<std::int64_t>(places.length())});
    }
    /// The segments of take_found(), which hold the offsets; null without.
    [[nodiscard]] const std::shared_ptr<const Segments>& found() const { return found_; }
    /// Goes on with copies of the columns and keys that are sorted by key. Throws InputError where segments
    /// are not given by keys, and where that cannot be had.
    void sort_by_keys();
    /// Whether sort_by_keys() was called, after which no key comes back.
    [[nodiscard]] bool is_sorted() const { return is_sorted_; }
    /// An output of the sorted elements of a GPU, with each where the element stood before.
    [[nodiscard]] nb::object put_back_on_device(nb::object array) const;
    /// Where the elements of the host stood before they were sorted; null where they were not moved.
    [[nodiscard]] const std::shared_ptr<const Array>& places() const { return places_; }
    /// Whether the key of each segment is among the results.
    [[nodiscard]] bool gives_keys() const
    {
        return segments_.kind == LayoutKind::keys || (found_ && found_->keys);
    }

private:
    void take_word(std::string_view word, nb::handle value);
    void take_segments(LayoutKind kind, std::string_view word, nb::handle value);
    void take_columns(PyOperator& op, const std::vector<nb::object>& columns);
    /// Takes the segments that arrays of lists say. Throws InputError where they say others than the rest of
    /// the call.
    void take_lists();
    /// Takes keys of several columns: elements whose keys are others than those before begin a segment.
    void take_key_columns();
    [[nodiscard]] std::vector<std::string> names_of_fields(bool with_keys) const;
    void take_out();
    void require_one_place() const;

    std::shared_ptr<TypedOperator> typed_;
    std::vector<ArrayIn> arrays_;  ///< columns, tables and scalars, then those of segments
    std::size_t model_ = 0;        ///< the place of the first that is no scalar
    std::vector<std::string> labels_;
    std::vector<ArrayView> inputs_;
    SegmentsView segments_;
    std::shared_ptr<const Segments> found_;
    std::string_view segments_word_;
    std::vector<std::pair<std::string, nb::object>> segment_objects_;
    std::pair<nb::object, nb::object> key_columns_;  ///< columns of keys, and the flags made of them
    nb::object out_object_;
    std::vector<ArrayIn> out_;
    FoldWords words_;
    bool is_sorted_ = false;
    std::shared_ptr<const Array> places_;
    nb::object device_places_;  ///< an array of the library of those on a GPU
    std::int64_t num_elements_ = 0;
    std::int64_t num_features_ = 1;
};

/// Says once for an operator, and for each type of a generic one, that keys of runs come back. `keys` lie on
/// the host, or are what a caller gets on a GPU, where only the first ones are looked at.
void tell_of_keys(const Call& call, const Array& keys);
void tell_of_keys(const Call& call, const nb::object& keys);

/// The results of a call: the only one itself, else a named tuple.
[[nodiscard]] nb::object results_of(const Call& call, std::vector<nb::object> arrays);

/// Folds, on the host or on a GPU.
[[nodiscard]] nb::object fold(Call& call);

/// Runs `plan` on a GPU; see fold().
[[nodiscard]] nb::object run_on_device(const Call& call, Plan& plan, Session& session, std::uintptr_t stream);

/// Folds arrays of the host by a session.
[[nodiscard]] nb::object fold_on_host(Call& call, const std::shared_ptr<Session>& session);

/// Runs `plan`, one of the host, into the caller's arrays or new ones.
[[nodiscard]] nb::object run_on_host(Call& call, const std::shared_ptr<Plan>& plan,
                                     const std::shared_ptr<Session>& session);

/// Where segments are given so that their number is known: how many there are.
[[nodiscard]] std::int64_t num_segments_of(const Call& call);

/// How many entries the array of `typed->fields[field]` has, by the number of segments.
[[nodiscard]] inline std::int64_t length_of(const Call& call, std::size_t field, std::int64_t num_segments)
{
    return call.typed()->is_output(field) ? call.num_elements() : num_segments;
}

}  // namespace segfold::python
