#include "runtime/python/bind/call.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "dsl/error.h"
#include "dsl/message/suggest.h"
#include "runtime/python/bind/arrays/arrow_in.h"
#include "runtime/python/bind/names.h"
#include "runtime/session/borrowed.h"
#include "runtime/support/text_table.h"

namespace segfold::python {
namespace {

constexpr std::string_view kWords[] = {
    "offsets", "lengths",    "keys",  "flags",    "ranges",       "uniform",       "groups",  "by",
    "sort",    "num_groups", "out",   "stage",    "settings",     "reproducible",  "backend", "device",
    "kernels", "assume",     "check", "validate", "trust_tables", "assume_finite", "longest", "sort_keys",
    "first"};

std::string_view word_of(nb::handle word)
{
    if (!PyUnicode_Check(word.ptr()))
        throw nb::type_error(
            fmt::format("the keys of a dictionary are names, and {} is given", nb::repr(word).c_str())
                .c_str());
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(word.ptr(), &size);
    if (text == nullptr)
        throw nb::python_error();
    return {text, static_cast<std::size_t>(size)};
}

Law law_called(const std::string& word)
{
    for (const auto law : {Law::associative, Law::identity, Law::commutative, Law::idempotent})
        if (name(law) == word)
            return law;
    throw InputError(
        fmt::format("assume= names laws, and '{}' is none; the laws are associative, identity, commutative, "
                    "idempotent",
                    word));
}

/// Returns pointers to the first `count` arrays.
std::vector<const ArrayIn*> columns_of(const std::vector<ArrayIn>& arrays, std::size_t count)
{
    std::vector<const ArrayIn*> columns;
    for (std::size_t i = 0; i < count; ++i)
        columns.push_back(&arrays[i]);
    return columns;
}

/// Returns a text such as ", and nothing is called 'y'", for dictionary keys that are no parameter's name.
std::string text_of_unknown(const std::vector<std::string_view>& keys)
{
    constexpr std::size_t kMostShown = 3;
    const auto shown = std::min(keys.size(), kMostShown);
    std::string text;
    for (std::size_t i = 0; i < shown; ++i)
        text += fmt::format("{}'{}'", i == 0 ? ", and nothing is called " : ", ", keys[i]);
    return keys.size() > shown ? text + ", ..." : text;
}

/// Returns the operator for `type`. Throws InputError if the operator does not accept `type`. The message
/// gives advice if `type` is bool, or if it is an integer type and the operator accepts only floats.
const std::shared_ptr<TypedOperator>& typed_of(PyOperator& op, Type type, const std::string& column,
                                               Kind kind)
{
    try {
        return op.typed_pointer(type);
    } catch (const InputError& error) {
        if (type == Type::boolean && std::ranges::count(op.types(), Type::i32) > 0)
            throw InputError(fmt::format("{}; give {}.{}, where True is 1", error.what(), column,
                                         kind == Kind::torch ? "int()" : "astype(\"i4\")"));
        if (is_float(type) || !std::ranges::all_of(op.types(), is_float))
            throw;
        throw InputError(fmt::format("{}; give {}.{}", error.what(), column,
                                     kind == Kind::torch ? "double()" : "astype(float)"));
    }
}

bool is_dictionary(nb::handle object) { return PyDict_Check(object.ptr()) != 0; }

const std::byte* end_of(const ArrayView& view)
{
    return static_cast<const std::byte*>(view.data) +
           static_cast<std::size_t>(view.length) * size_bytes(view.type);
}

bool share_memory(const ArrayView& a, const ArrayView& b)
{
    return a.place == b.place && a.length > 0 && b.length > 0 && a.data < end_of(b) && b.data < end_of(a);
}

std::string place_text(const ArrayIn& array)
{
    return array.view().place == Place::host ? "on the host" : fmt::format("on GPU {}", array.device());
}

std::string_view kind_text(Kind kind)
{
    constexpr std::string_view kTexts[] = {"NumPy", "torch", "CuPy", "JAX", "another library"};
    return kTexts[static_cast<int>(kind)];
}

}  // namespace

std::vector<Law> assumed_laws(nb::handle value)
{
    if (PyUnicode_Check(value.ptr()))
        return {law_called(std::string(word_of(value)))};
    if (PyObject_HasAttrString(value.ptr(), "__iter__") == 0)
        throw nb::type_error(fmt::format("assume= takes the name of a law, or names of laws, and {} is given",
                                         nb::repr(value).c_str())
                                 .c_str());
    std::vector<Law> laws;
    for (const nb::handle law : nb::iter(value))
        laws.push_back(law_called(value_of<std::string>("assume", law, "names of laws")));
    return laws;
}

Call::Call(PyOperator& op, const nb::args& positional, const nb::kwargs& named,
           std::initializer_list<std::string_view> own_words)
{
    const auto& parameters = op.parameters();
    std::vector<nb::object> columns(parameters.size());
    const auto column_of = [&](std::string_view word) {
        return static_cast<std::size_t>(std::ranges::find(parameters, word, &DeclaredParameter::name) -
                                        parameters.begin());
    };
    std::size_t given = 0;
    std::vector<std::string_view> others;  // dictionary keys that are no parameter's name
    const auto take_dictionary = [&](const nb::dict& dictionary) {
        for (const auto [key, value] : dictionary) {
            const auto column = column_of(word_of(key));
            if (column == parameters.size()) {
                others.push_back(word_of(key));
                continue;
            }
            columns[column] = nb::borrow(value);
            ++given;
        }
    };
    if (positional.size() == 1 && is_dictionary(positional[0]))
        take_dictionary(nb::borrow<nb::dict>(positional[0]));
    else {
        given = positional.size();
        if (given > parameters.size())
            require_inputs(op.is_generic() ? op.typed(op.types().front()).op : op.fixed().op, given);
        for (std::size_t i = 0; i < given; ++i)
            columns[i] = nb::borrow(positional[i]);
    }
    for (const auto [key, value] : named) {
        const auto word = word_of(key);
        const auto column = column_of(word);
        if (column < columns.size() && !columns[column].is_valid()) {
            columns[column] = nb::borrow(value);
            ++given;
        } else if (std::ranges::find(kWords, word) != std::end(kWords)) {
            take_word(word, value);
        } else if (column < columns.size()) {
            throw nb::type_error(fmt::format("{}: '{}' is given twice", op.name(), word).c_str());
        } else if (std::ranges::find(own_words, word) == own_words.end()) {
            std::vector<std::string_view> known(std::begin(kWords), std::end(kWords));
            known.insert(known.end(), own_words.begin(), own_words.end());
            for (const auto& parameter : parameters)
                known.emplace_back(parameter.name);
            throw nb::type_error(
                fmt::format("{}: nothing is called '{}'{}", op.signature(), word, did_you_mean(word, known))
                    .c_str());
        }
    }
    if (given < parameters.size()) {
        if (given == 0 && others.empty())
            require_inputs(op.is_generic() ? op.typed(op.types().front()).op : op.fixed().op, 0);
        for (std::size_t i = 0; i < columns.size(); ++i)
            if (!columns[i].is_valid())
                throw InputError(fmt::format("operator {} has no {} for '{}'{}; it takes {}", op.name(),
                                             parameters[i].scalar ? "number" : "array", parameters[i].name,
                                             text_of_unknown(others), op.signature()));
    }
    take_columns(op, columns);
    if (segments_.num_groups && segments_.kind != LayoutKind::groups)
        throw InputError("num_groups= is the number of groups that groups= numbers, and there is no groups=");
    if (segments_word_ == "by") {
        if (!words_.sorts_keys.value_or(true))
            throw InputError(
                "by= takes keys in any order, and sort_keys=False keys whose runs are segments; give keys=, "
                "or leave sort_keys= out");
        words_.sorts_keys = true;
    }
    if (segments_.kind == LayoutKind::keys)
        take_key_columns();
    for (const auto& [label, object] : segment_objects_) {
        arrays_.emplace_back(object, label);
        labels_.push_back(label);
    }
    if (!segment_objects_.empty()) {
        const auto& marks = arrays_[parameters.size()];
        if (segments_.kind == LayoutKind::offsets || segments_.kind == LayoutKind::ranges)
            require_no_offsets_of_lists(columns_of(arrays_, parameters.size()), marks, segments_word_);
        segments_.first = marks.view();
        if (segments_.kind == LayoutKind::ranges) {
            segments_.second = arrays_[parameters.size() + 1].view();
            if (segments_.second.type != segments_.first.type)
                throw InputError(fmt::format("'begins' are {} and 'ends' {}; both are of one type",
                                             segfold::name(segments_.first.type),
                                             segfold::name(segments_.second.type)));
        }
    }
    if (typed_->has_rows)
        num_features_ = num_features_of(typed_->op, inputs_);
    num_elements_ = num_elements_of(typed_->op, inputs_, segments_);
    if (out_object_.is_valid())
        take_out();
    require_one_place();
    if (words_.sorts_keys.value_or(false))
        sort_by_keys();
    if (words_.key_order == KeyOrder::first && !is_sorted_ && !numbered_)
        throw InputError(
            "sort=False says how groups of by= are ordered, and no keys are in any order; leave it out");
}

void Call::take_columns(PyOperator& op, const std::vector<nb::object>& columns)
{
    const auto& parameters = op.parameters();
    arrays_.reserve(columns.size() + 2);
    std::optional<Type> generic;
    std::string generic_column;
    Kind generic_kind = Kind::other;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        labels_.push_back(parameters[i].name);
        if (parameters[i].scalar) {
            arrays_.emplace_back();  // filled below, once the scalar's type is known
            continue;
        }
        arrays_.emplace_back(columns[i], parameters[i].name, Access::read,
                             parameters[i].row ? Holds::rows : Holds::elements);
        if (!parameters[i].type && !generic) {
            generic = arrays_.back().view().type;
            generic_column = parameters[i].name;
            generic_kind = arrays_.back().kind();
        }
    }
    typed_ = op.is_generic()
                 ? typed_of(op, generic.value_or(op.types().front()), generic_column, generic_kind)
                 : op.fixed_pointer();
    for (std::size_t i = 0; i < columns.size(); ++i)
        if (parameters[i].scalar)
            arrays_[i] = ArrayIn::scalar(columns[i], parameters[i].name, typed_->op.parameters[i].type);
    const auto column = std::ranges::find(parameters, false, &DeclaredParameter::scalar);
    model_ = column == parameters.end() ? 0 : static_cast<std::size_t>(column - parameters.begin());
    for (const auto& array : arrays_)
        inputs_.push_back(array.view());
    if (std::ranges::any_of(arrays_, [](const auto& array) { return array.lists() != nullptr; }))
        take_lists();
}

void Call::take_lists()
{
    segments_ = *common_lists(typed_->op, columns_of(arrays_, arrays_.size()), segments_word_);
    segments_word_ = "lists";
}

void Call::take_segments(LayoutKind kind, std::string_view word, nb::handle value)
{
    if (value.is_none())
        return;
    if (!segments_word_.empty())
        throw InputError(
            fmt::format("segments are given twice, as {} and as {}; give them once", segments_word_, word));
    segments_word_ = word;
    segments_.kind = kind;
    if (kind == LayoutKind::uniform) {
        if (PyBool_Check(value.ptr()))
            throw nb::type_error(
                fmt::format("uniform= takes the length of each segment, an integer, and {} is given",
                            nb::repr(value).c_str())
                    .c_str());
        segments_.uniform_length =
            value_of<std::int64_t>(word, value, "the length of each segment, an integer");
        if (segments_.uniform_length < 1)
            throw InputError(fmt::format("uniform is {}; it is the length of each segment, 1 or more",
                                         segments_.uniform_length));
    } else if (kind == LayoutKind::ranges) {
        if (!PyTuple_Check(value.ptr()) && !PyList_Check(value.ptr()))
            throw nb::type_error(
                fmt::format("ranges= takes a pair of arrays, (begins, ends), and a {} is given; of "
                            "an array of two rows give (array[0], array[1])",
                            text_of(value.type().attr("__name__")))
                    .c_str());
        const auto pair = nb::tuple(nb::borrow(value));
        if (pair.size() != 2)
            throw nb::type_error(
                fmt::format("ranges= takes a pair of arrays, (begins, ends), and {} are given", pair.size())
                    .c_str());
        segment_objects_.emplace_back("begins", nb::object(pair[0]));
        segment_objects_.emplace_back("ends", nb::object(pair[1]));
    } else {
        segment_objects_.emplace_back(word, nb::borrow(value));
    }
}

void Call::take_word(std::string_view word, nb::handle value)
{
    const auto is = [&](std::string_view name) { return word == name; };
    if (is("offsets"))
        take_segments(LayoutKind::offsets, word, value);
    else if (is("out"))
        out_object_ = value.is_none() ? nb::object() : nb::borrow(value);
    else if (is("lengths"))
        take_segments(LayoutKind::lengths, word, value);
    else if (is("keys") || is("by"))
        take_segments(LayoutKind::keys, word, value);
    else if (is("groups"))
        take_segments(LayoutKind::groups, word, value);
    else if (is("flags"))
        take_segments(LayoutKind::flags, word, value);
    else if (is("ranges"))
        take_segments(LayoutKind::ranges, word, value);
    else if (is("uniform"))
        take_segments(LayoutKind::uniform, word, value);
    else if (value.is_none())
        return;
    else if (is("num_groups")) {
        segments_.num_groups = value_of<std::int64_t>(word, value, "the number of groups, an integer");
        if (*segments_.num_groups < 0)
            throw InputError(fmt::format("num_groups is {}; it is the number of groups, 0 or more",
                                         *segments_.num_groups));
    } else if (is("stage"))
        words_.plan.request.stage = value_of<std::string>(word, value, "the name of a stage");
    else if (is("settings")) {
        for (const auto [name, number] : value_of<nb::dict>(word, value, "a dictionary of tunables"))
            words_.plan.request.settings[std::string(word_of(name))] =
                value_of<int>(word, number, "integers");
    } else if (is("first"))
        words_.plan.request.first = first_named(value_of<std::string>(word, value, "'best' or 'fast'"));
    else if (is("reproducible"))
        words_.plan.request.is_reproducible = value_of<bool>(word, value, "True or False");
    else if (is("backend"))
        words_.session.backend = value_of<std::string>(word, value, "the name of a back end");
    else if (is("device"))
        words_.session.device = value_of<int>(word, value, "the ordinal of a GPU");
    else if (is("kernels"))
        words_.session.kernels = text_of(value);
    else if (is("assume"))
        words_.session.assume = assumed_laws(value);
    else if (is("check"))
        words_.check = value_of<bool>(word, value, "True or False");
    else if (is("validate"))
        words_.plan.validates_segments = value_of<bool>(word, value, "True or False");
    else if (is("trust_tables"))
        words_.plan.trusts_tables = value_of<bool>(word, value, "True or False");
    else if (is("sort_keys"))
        words_.sorts_keys = value_of<bool>(word, value, "True or False");
    else if (is("sort"))
        words_.key_order =
            value_of<bool>(word, value, "True or False") ? KeyOrder::ascending : KeyOrder::first;
    else if (is("assume_finite"))
        words_.plan.assumes_finite = value_of<bool>(word, value, "True or False");
    else if (is("longest")) {
        words_.plan.longest =
            value_of<std::int64_t>(word, value, "the number of elements of the longest segment");
        require_longest(words_.plan.longest);
    }
}

std::vector<std::string> Call::field_names() const { return names_of_fields(gives_keys()); }

std::vector<std::string> Call::result_names() const
{
    return names_of_fields(gives_keys() || has_key_columns());
}

std::vector<std::string> Call::names_of_fields(bool with_keys) const
{
    std::vector<std::string> names;
    if (with_keys)
        names.emplace_back("keys");
    for (const auto& field : typed_->fields) {
        names.push_back(field.name);
        while (std::ranges::count(names, names.back()) > 1)  // a result may itself be called "keys"
            names.back() += '_';
    }
    return names;
}

std::string Call::where_to_look(const std::vector<Law>& doubtful) const
{
    const auto& session = words_.session;
    std::vector<std::string> places;
    if (!session.assume.empty()) {
        std::vector<std::string_view> laws;
        for (const auto law : session.assume)
            laws.push_back(segfold::name(law));
        places.push_back(fmt::format("assume='{}' relies on what may not hold", fmt::join(laws, "', '")));
    }
    if (!session.kernels.empty())
        places.push_back(fmt::format("stages and parts are taken from kernels='{}'", session.kernels));
    if (!places.empty())
        return fmt::format("{}, so look there first", fmt::join(places, ", and "));
    if (!doubtful.empty()) {
        std::vector<std::string_view> laws;
        for (const auto law : doubtful)
            laws.push_back(segfold::name(law));
        return fmt::format(
            "operator {} is refuted to be as it claims ({}), and the call relies on that all the same; its "
            "warning shows the counter-example",
            op().name, fmt::join(laws, ", "));
    }
    return fmt::format(
        "a law of operator {} may not hold, for which sf.check() searches longer than a call does",
        op().name);
}

void Call::take_out()
{
    const auto names = field_names();
    std::vector<nb::object> objects;
    if (is_dictionary(out_object_)) {
        const auto dictionary = nb::borrow<nb::dict>(out_object_);
        for (const auto [key, value] : dictionary)
            if (const auto given = word_of(key); std::ranges::find(names, given) == names.end())
                throw InputError(
                    has_key_columns() && given == "keys"
                        ? "out has an array for 'keys', and keys of several columns come back in new arrays; "
                          "leave it out"
                        : fmt::format("out has an array for '{}', and results are {}", given,
                                      fmt::join(names, ", ")));
        for (const auto& name : names) {
            if (!dictionary.contains(name.c_str()))
                throw InputError(
                    fmt::format("out has no array for '{}'; results are {}", name, fmt::join(names, ", ")));
            objects.emplace_back(dictionary[name.c_str()]);
        }
    } else if (PyTuple_Check(out_object_.ptr()) || PyList_Check(out_object_.ptr())) {
        for (const nb::handle object : nb::iter(out_object_))
            objects.push_back(nb::borrow(object));
    } else {
        objects.push_back(out_object_);
    }
    if (objects.size() != names.size())
        throw InputError(fmt::format("out has {} {}, and results are {} ({})", objects.size(),
                                     objects.size() == 1 ? "array" : "arrays", names.size(),
                                     fmt::join(names, ", ")));
    for (std::size_t i = 0; i < objects.size(); ++i) {
        const auto label = objects.size() == 1 ? std::string("out") : fmt::format("out.{}", names[i]);
        const bool is_keys = i == 0 && gives_keys();
        const bool has_rows = typed_->has_rows && !is_keys;
        out_.emplace_back(objects[i], label, Access::write, has_rows ? Holds::rows : Holds::numbers);
        if (has_rows && out_.back().view().num_features != num_features_)
            throw InputError(
                fmt::format("'{}' has rows of {}, and the results have rows of {}; they "
                            "must agree",
                            label, count_text(out_.back().view().num_features, "feature"), num_features_));
        for (std::size_t j = 0; j < arrays_.size(); ++j)
            if (share_memory(out_.back().view(), arrays_[j].view()))
                throw InputError(
                    fmt::format("'{}' shares memory with '{}'; results go elsewhere", label, labels_[j]));
        for (std::size_t j = 0; j < i; ++j)
            if (share_memory(out_[i].view(), out_[j].view()))
                throw InputError(
                    fmt::format("'{}' shares memory with 'out.{}'; each result has an array of its own",
                                label, names[j]));
    }
}

void Call::require_one_place() const
{
    const auto& first = model();
    const auto require_beside = [&](const ArrayIn& array, std::string_view label) {
        if (array.view().place != first.view().place || array.device() != first.device())
            throw InputError(
                fmt::format("'{}' lies {} and '{}' {}; the arrays of a call lie together, and segfold copies "
                            "nothing by itself",
                            labels_[model_], place_text(first), label, place_text(array)));
        if (first.view().place == Place::device && array.kind() != first.kind())
            throw InputError(
                fmt::format("'{}' is an array of {} and '{}' one of {}, which queue their work on streams of "
                            "their own; convert one by from_dlpack",
                            labels_[model_], kind_text(first.kind()), label, kind_text(array.kind())));
    };
    const auto& parameters = typed_->op.parameters;
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
        // Numbers on the host are passed by value, so they need not be on the device of the columns.
        const bool is_number =
            i < parameters.size() && parameters[i].scalar && arrays_[i].view().place == Place::host;
        if (i != model_ && !is_number)
            require_beside(arrays_[i], labels_[i]);
    }
    for (const auto& array : out_)
        require_beside(array, "out");
}

}  // namespace segfold::python
