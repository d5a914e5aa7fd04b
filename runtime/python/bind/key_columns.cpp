// Handles keys given as several columns, from which it computes flags for the fold.
#include <fmt/format.h>
#include <nanobind/stl/pair.h>

#include "dsl/error.h"
#include "runtime/python/bind/arrays/array_refusals.h"
#include "runtime/python/bind/call.h"
#include "runtime/python/bind/interrupt.h"
#include "runtime/python/bind/names.h"
#include "runtime/session/borrowed.h"
#include "runtime/support/text_table.h"

namespace segfold::python {
namespace {

/// True if `keys` is a tuple or list of columns; false if it is a list of single keys.
bool are_columns(nb::handle keys)
{
    if (!PyTuple_Check(keys.ptr()) && !PyList_Check(keys.ptr()))
        return false;
    const auto num_entries = nb::len(keys);
    for (std::size_t i = 0; i < num_entries; ++i) {
        const nb::object entry = keys[i];
        const bool is_text = PyUnicode_Check(entry.ptr()) || PyBytes_Check(entry.ptr());
        const bool has_length = !is_text && PyObject_Size(entry.ptr()) >= 0;
        PyErr_Clear();
        if (has_length)
            return true;
    }
    return false;
}

/// True if keys are texts, dates or other objects without a type in segfold.
bool has_texts(nb::handle keys)
{
    return nb::cast<bool>(nb::module_::import_("segfold._keys").attr("has_texts")(keys));
}

/// True if an array has two dimensions, with a row of keys for each element.
bool has_rows_of_keys(nb::handle keys)
{
    PyObject* const found = PyObject_GetAttr(keys.ptr(), names().ndim.ptr());
    if (found == nullptr) {
        PyErr_Clear();
        return false;
    }
    const auto dimensions = nb::steal(found);
    return dimensions.equal(nb::int_(2));
}

}  // namespace

void Call::take_key_columns()
{
    auto& keys = segment_objects_.front().second;
    if (words_.sorts_keys.value_or(false) && (are_columns(keys) || has_rows_of_keys(keys) || has_texts(keys)))
        return number_key_columns(keys);
    std::vector<ArrayIn> taken;  // taking the columns throws for objects that cannot be keys
    const bool is_tuple = are_columns(keys);
    if (!is_tuple && (PyTuple_Check(keys.ptr()) || PyList_Check(keys.ptr())) && nb::len(keys) == 0)
        throw InputError(fmt::format("'{1}' is an empty {0}; a {0} of keys has at least one array",
                                     PyTuple_Check(keys.ptr()) ? "tuple" : "list", segments_word_));
    if (is_tuple)
        for (std::size_t i = 0; i < nb::len(keys); ++i)
            taken.emplace_back(nb::object(keys[i]), fmt::format("keys[{}]", i));
    else if (has_rows_of_keys(keys))
        taken.emplace_back(keys, "keys", Access::read, Holds::rows);
    else
        return;
    SegmentsView marks;
    marks.kind = LayoutKind::flags;
    marks.first.length = taken.front().num_entries();
    const auto num_elements = num_elements_of(typed_->op, inputs_, marks);
    for (std::size_t i = 0; i < taken.size(); ++i) {
        const auto name = is_tuple ? fmt::format("keys[{}]", i) : "keys";
        if (taken[i].num_entries() != num_elements)
            throw InputError(fmt::format(
                "'{}' has {} for {}; {}", name, count_text(taken[i].num_entries(), is_tuple ? "key" : "row"),
                count_text(num_elements, "element"),
                is_tuple ? "each column has a key for each element"
                : taken[i].view().num_features == num_elements
                    ? "keys of several columns have a row for each element: give tuple(keys)"
                    : "keys of several columns have a row for each element"));
        if (taken[i].kind() != taken.front().kind())
            throw InputError(
                fmt::format("'{}' is a {} and 'keys[0]' a {}; columns of keys are arrays of one library",
                            name, class_name(taken[i].object()), class_name(taken.front().object())));
    }
    auto [columns, flags] = nb::cast<std::pair<nb::object, nb::object>>(
        nb::module_::import_("segfold._keys").attr("starts")(keys));
    key_columns_ = {std::move(columns), flags};
    segments_.kind = LayoutKind::flags;
    keys = std::move(flags);
}

void Call::number_key_columns(nb::handle keys)
{
    struct Numbering {
        std::vector<Array> columns;
        KeyOrder order;
        std::shared_ptr<const NumberedKeys> numbered;
    };
    const auto numbering = std::make_shared<Numbering>();
    numbering->order = words_.key_order.value_or(KeyOrder::ascending);
    std::vector<ArrayIn> held;
    const auto keys_module = nb::module_::import_("segfold._keys");
    const nb::object columns =
        keys_module.attr("columns")(keys, nb::str(segments_word_.data(), segments_word_.size()));
    const auto num_elements = num_elements_of(typed_->op, inputs_, {});
    for (const nb::handle named : nb::iter(columns)) {
        const auto name = nb::cast<std::string>(named[0]);
        held.emplace_back(named[1], name);
        const auto& view = held.back().view();
        if (view.length != num_elements)
            throw InputError(fmt::format("'{}' has {} for {}; each column has a key for each element", name,
                                         count_text(view.length, "key"),
                                         count_text(num_elements, "element")));
        numbering->columns.push_back(borrow(view));
    }
    run_by_size(
        held.front().view().length, kElementsOfAShortFold,
        [numbering] {
            numbering->numbered =
                std::make_shared<const NumberedKeys>(number_keys(numbering->columns, numbering->order));
        },
        held);
    numbered_ = numbering->numbered;
    const auto& [numbers, firsts] = *numbered_;
    nb::object places = new_on_host(Kind::numpy, firsts.type(), {static_cast<std::int64_t>(firsts.length())});
    if (firsts.bytes() != 0)
        std::memcpy(ArrayIn(places, "keys", Access::write).mutable_view().data, firsts.data(),
                    firsts.bytes());
    // Copies the keys now, because the fold may write its results to these columns.
    key_columns_.first = keys_module.attr("at")(keys, places);
    segments_ = groups(view_of(numbers), static_cast<std::int64_t>(firsts.length()));
    words_.sorts_keys = false;
    segment_objects_.clear();
}

nb::object Call::keys_of_segments() const
{
    if (numbered_)
        return key_columns_.first;
    return nb::module_::import_("segfold._keys").attr("of_segments")(key_columns_.first, key_columns_.second);
}

}  // namespace segfold::python
