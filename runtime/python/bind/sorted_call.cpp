// Sorts the elements of a call by key, and warns of calls with unsorted keys.
#include <fmt/format.h>
#include <nanobind/stl/pair.h>

#include <algorithm>

#include "dsl/error.h"
#include "runtime/data/key_order.h"
#include "runtime/python/bind/call.h"
#include "runtime/python/bind/interrupt.h"

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
    call.typed()->is_done_with_keys = true;  // set only if the warning was not turned into an exception
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
    require_movable(op(), "sort_keys=True");
    const auto& parameters = op().parameters;
    std::vector<std::size_t> moved = {parameters.size()};  // places of the keys, then of the columns
    for (std::size_t i = 0; i < parameters.size(); ++i)
        if (!parameters[i].table)
            moved.push_back(i);
    is_sorted_ = true;
    const auto has_all = [&](std::size_t i) { return arrays_[i].num_entries() == num_elements_; };
    if (!std::ranges::all_of(moved, has_all))
        return;  // the fold reports the error
    const auto take = [&](std::size_t i) {
        (i < parameters.size() ? inputs_[i] : segments_.first) = arrays_[i].view();
    };
    if (is_on_device()) {
        nb::list objects;
        for (const auto i : moved)
            objects.append(arrays_[i].object());
        const nb::tuple sorted(nb::module_::import_(kSorted).attr("by_first")(objects));
        device_places_ = sorted[0];
        for (std::size_t k = 0; k < moved.size(); ++k) {
            arrays_[moved[k]] = ArrayIn(nb::object(sorted[k + 1]), labels_[moved[k]], Access::read,
                                        arrays_[moved[k]].holds());
            take(moved[k]);
        }
        return;
    }
    struct Sorting {
        std::vector<Array> arrays;
        std::optional<Array> places;
    };
    const auto sorting = std::make_shared<Sorting>();
    for (const auto i : moved) {
        const auto& view = arrays_[i].view();
        sorting->arrays.push_back(Array::borrow(view.type, view.data, static_cast<std::size_t>(view.length)));
        sorting->arrays.back().set_row_length(static_cast<std::size_t>(view.num_features));
    }
    run_by_size(
        num_elements_, kElementsOfAShortFold,
        [sorting] {
            sorting->places = sorted_places(sorting->arrays.front());
            if (sorting->places)
                for (auto& array : sorting->arrays)
                    array = taken_at(array, *sorting->places);
        },
        arrays_);
    if (!sorting->places)
        return;
    for (std::size_t k = 0; k < moved.size(); ++k) {
        arrays_[moved[k]].lend(std::make_shared<const Array>(std::move(sorting->arrays[k])));
        take(moved[k]);
    }
    places_ = std::make_shared<const Array>(std::move(*sorting->places));
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
