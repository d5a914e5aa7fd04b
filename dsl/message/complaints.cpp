#include "dsl/message/complaints.h"

#include <algorithm>
#include <string_view>
#include <tuple>

namespace segfold {

PlacedError placed_error(const SourcePointer& source, Position position, const std::string& message,
                         const std::string& hint)
{
    return {spec_error(source, position, message, hint), position};
}

namespace {

/// Sort key of messages: file, line and column.
auto order(Position place)
{
    const std::string_view file = place.file == nullptr ? std::string_view() : place.file;
    return std::tuple(file, place.line, place.column);
}

}  // namespace

void Complaints::add(const PlacedError& error)
{
    const auto place = error.position();
    const bool known = place.line != 0 && std::ranges::any_of(errors_, [&](const PlacedError& other) {
                           return order(other.position()) == order(place);
                       });
    if (known)
        return;
    more_ = errors_.size() == kMostComplaints;
    if (!more_)
        errors_.push_back(error);
    // Messages without a text have no places that would tell them apart, so only one is reported.
    if (more_ || place.line == 0)
        raise_if_any();
}

void Complaints::raise_if_any() const
{
    if (errors_.empty())
        return;
    auto sorted = errors_;
    std::ranges::stable_sort(sorted, {}, [](const PlacedError& error) { return order(error.position()); });
    std::string text;
    for (const auto& error : sorted)
        text += (text.empty() ? "" : "\n") + std::string(error.what());
    if (more_)
        text += "\nthese are the first " + std::to_string(kMostComplaints) + " faults; there are more";
    throw SpecError(text);
}

}  // namespace segfold
