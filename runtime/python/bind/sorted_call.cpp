// Sorts the elements of a call by key, and warns of calls whose keys are not sorted.
#include <fmt/format.h>
#include <nanobind/stl/pair.h>

#include <algorithm>

#include "dsl/error.h"
#include "dsl/rewrite/index_column.h"
#include "runtime/data/key_order.h"
#include "runtime/python/bind/call.h"
#include "runtime/python/bind/interrupt.h"
#include "runtime/session/core.h"

namespace segfold::python {
namespace {

constexpr const char* kSorted = "segfold._sorted";

void tell_of_keys(const Call& call, std::int64_t num_runs, std::int64_t num_distinct)
{
    const auto text = text_of_returning_keys(
        num_runs, num_distinct, "sort_keys=True sorts by key first, so that each key is one segment");
    if (text.empty())
        return;
    warn({fmt::format("operator {}: {}", call.op().name, text)}, &call.typed()->told);
    call.typed()->is_done_with_keys = true;  // not reached if the warning becomes an exception
}

}  // namespace

void Call::sort_by_keys()
{
    if (segments_.kind != LayoutKind::keys)
        throw InputError(fmt::format("sort_keys=True sorts by keys=, and {}; leave it out{}",
                                     segments_word_.empty()
                                         ? "no segments are given"
                                         : fmt::format("segments are given by {}", segments_word_),
                                     segments_word_ == "lists" ? "" : ", or give keys instead"));
    is_sorted_ = true;
    if (!is_on_device())
        return;  // on the host, the fold itself sorts
    if (words_.key_order == KeyOrder::first)
        throw InputError(
            "sort=False gives groups in the order in which their keys first stand, and arrays on a GPU are "
            "sorted "
            "by key; leave it out, or fold copies on the host");
    require_movable(op(), segments_word_ == "by" ? "by=" : "sort_keys=True");
    const auto& parameters = op().parameters;
    std::vector<std::size_t> moved = {parameters.size()};  // indices in arrays(): keys first, then columns
    for (std::size_t i = 0; i < parameters.size(); ++i)
        if (!parameters[i].table)
            moved.push_back(i);
    const auto has_all = [&](std::size_t i) { return arrays_[i].num_entries() == num_elements_; };
    if (!std::ranges::all_of(moved, has_all))
        return;  // the fold will report the error
    nb::list objects;
    for (const auto i : moved)
        objects.append(arrays_[i].object());
    const nb::tuple sorted(nb::module_::import_(kSorted).attr("by_first")(objects));
    device_places_ = sorted[0];
    for (std::size_t k = 0; k < moved.size(); ++k) {
        const auto i = moved[k];
        arrays_[i] = ArrayIn(nb::object(sorted[k + 1]), labels_[i], Access::read, arrays_[i].holds());
        (i < parameters.size() ? inputs_[i] : segments_.first) = arrays_[i].view();
    }
}

void Call::settle_groups_on_device(SessionCore& session)
{
    const auto& parameters = op().parameters;
    const auto module = nb::module_::import_(kSorted);
    const auto& marks = arrays_[parameters.size()];
    const auto given = segments_.num_groups ? nb::object(nb::int_(*segments_.num_groups)) : nb::none();
    const auto number = module.attr("count_groups")(marks.object(), given);
    segments_.num_groups = nb::cast<std::int64_t>(number);
    const bool is_taken = [&] {
        const nb::gil_scoped_release released;
        return session.takes_groups(op(), segments_, num_elements_, words_.plan.request);
    }();
    if (is_taken)
        return;
    if (reads_index(op()))
        throw InputError(fmt::format(
            "operator {} reads 'index', the place of an element, and groups= moves elements on a GPU; give a "
            "column of places to an operator that reads it, or fold copies on the host",
            op().name));
    nb::list objects;
    std::vector<std::size_t> moved;
    for (std::size_t i = 0; i < parameters.size(); ++i)
        if (!parameters[i].table) {
            moved.push_back(i);
            objects.append(arrays_[i].object());
        }
    const nb::tuple sorted(module.attr("by_group")(marks.object(), number, objects));
    device_places_ = sorted[0];
    for (std::size_t k = 0; k < moved.size(); ++k) {
        const auto i = moved[k];
        arrays_[i] = ArrayIn(nb::object(sorted[k + 3]), labels_[i], Access::read, arrays_[i].holds());
        inputs_[i] = arrays_[i].view();
    }
    arrays_[parameters.size()] = ArrayIn(nb::object(sorted[1]), "begins");
    arrays_.emplace_back(nb::object(sorted[2]), "ends");
    segments_ = ranges(arrays_[parameters.size()].view(), arrays_.back().view());
}

nb::object Call::put_back_on_device(nb::object array) const
{
    return device_places_.is_valid() ? nb::module_::import_(kSorted).attr("put_back")(array, device_places_)
                                     : array;
}

void tell_of_keys(const Call& call, const Array& keys)
{
    if (call.is_sorted() || call.typed()->is_done_with_keys)
        return;
    std::int64_t num_distinct = 0;
    {
        const nb::gil_scoped_release released;
        num_distinct = count_distinct(keys);
    }
    tell_of_keys(call, static_cast<std::int64_t>(keys.length()), num_distinct);
}

void tell_of_keys(const Call& call, const nb::object& keys)
{
    if (call.is_sorted() || call.typed()->is_done_with_keys)
        return;
    const auto counts = nb::cast<std::pair<std::int64_t, std::int64_t>>(
        nb::module_::import_(kSorted).attr("runs_and_keys")(keys));
    tell_of_keys(call, counts.first, counts.second);
    call.typed()->is_done_with_keys = true;
}

}  // namespace segfold::python
