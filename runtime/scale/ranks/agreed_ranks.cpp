#include "runtime/scale/ranks/agreed_ranks.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <string>

#include "dsl/error.h"
#include "dsl/stopped.h"
#include "runtime/simt/program.h"

namespace segfold {
namespace {

/// The kinds of failures that ranks exchange.
enum class Kind : std::uint8_t { specification, input, device, internal, memory, simt_fault, stopped };

/// The header of each message.
struct Heading {
    std::int32_t failed_depth = 0;  ///< depth of the failed call of together(); 0 if none failed
    Kind kind = Kind::internal;
    std::uint8_t fault = 0;  ///< the simt::Fault, if the kind is simt_fault
    std::uint16_t unused = 0;
};

std::vector<std::byte> message_of(const Heading& heading, std::span<const std::byte> bytes)
{
    const auto begin = std::as_bytes(std::span(&heading, 1));
    std::vector<std::byte> message(begin.begin(), begin.end());
    message.insert(message.end(), bytes.begin(), bytes.end());
    return message;
}

/// A rank's failure, as all ranks have received it.
struct Met : std::exception {
    Met(const Heading& of, std::string words) : heading(of), text(std::move(words)) {}
    [[nodiscard]] const char* what() const noexcept override { return text.c_str(); }

    Heading heading;
    std::string text;
};

[[noreturn]] void rethrow(const Met& met)
{
    switch (met.heading.kind) {
        case Kind::specification: throw SpecError(met.text);
        case Kind::input: throw InputError(met.text);
        case Kind::device: throw DeviceError(met.text);
        case Kind::memory: throw std::bad_alloc();
        case Kind::simt_fault: throw simt::SimtError(static_cast<simt::Fault>(met.heading.fault), met.text);
        case Kind::stopped: throw Stopped();
        default: throw InternalError(met.text);
    }
}

/// Returns the description of an exception that is sent to other ranks.
Met failure_of(const std::exception& error)
{
    Heading heading;
    std::string text = error.what();
    if (const auto* fault = dynamic_cast<const simt::SimtError*>(&error)) {
        heading.kind = Kind::simt_fault;
        heading.fault = static_cast<std::uint8_t>(fault->fault());
    } else if (dynamic_cast<const SpecError*>(&error) != nullptr) {
        heading.kind = Kind::specification;
    } else if (dynamic_cast<const InputError*>(&error) != nullptr) {
        heading.kind = Kind::input;
    } else if (dynamic_cast<const DeviceError*>(&error) != nullptr) {
        heading.kind = Kind::device;
    } else if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
        heading.kind = Kind::memory;
    } else if (dynamic_cast<const Stopped*>(&error) != nullptr) {
        heading.kind = Kind::stopped;
    } else if (dynamic_cast<const InternalError*>(&error) != nullptr) {
        // The constructor of InternalError adds the prefix again.
        constexpr std::string_view kBegin = "internal error: ";
        text = text.starts_with(kBegin) ? text.substr(kBegin.size()) : text;
    }
    return {heading, std::move(text)};
}

/// Removes the headings from the messages of all ranks. If ranks have failed, throws the failure of the
/// lowest rank that failed in the outermost call of together().
void take_headings(std::vector<std::vector<std::byte>>& all)
{
    std::optional<Met> first;
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        auto& message = all[rank];
        Heading heading;
        if (message.size() < sizeof heading)
            throw InternalError(fmt::format("rank {} of {} gives {} bytes, where {} precede every message",
                                            rank, all.size(), message.size(), sizeof heading));
        std::memcpy(&heading, message.data(), sizeof heading);
        message.erase(message.begin(), message.begin() + sizeof heading);
        if (heading.failed_depth == 0 || (first && first->heading.failed_depth <= heading.failed_depth))
            continue;
        std::string words(reinterpret_cast<const char*>(message.data()), message.size());
        if (rank != 0)
            words = fmt::format("rank {} of {}: {}", rank, all.size(), words);
        first.emplace(heading, std::move(words));
    }
    if (first)
        throw Met(*first);
}

}  // namespace

std::vector<std::vector<std::byte>> AgreedRanks::all_gather(std::span<const std::byte> mine)
{
    auto all = ranks_.all_gather(message_of({}, mine));
    take_headings(all);
    return all;
}

void AgreedRanks::together(const std::function<void()>& work)
{
    const int depth = ++depth_;
    struct Closing {
        int& depth;
        ~Closing() { --depth; }
    } const closing{depth_};
    try {
        try {
            work();
            (void)all_gather({});  // no rank continues while another rank may still fail
        } catch (const Met&) {
            throw;
        } catch (const std::exception& error) {
            auto own = failure_of(error);
            own.heading.failed_depth = depth;
            auto all = ranks_.all_gather(message_of(own.heading, std::as_bytes(std::span(own.text))));
            take_headings(all);
        }
    } catch (const Met& met) {
        if (met.heading.failed_depth != depth)
            throw;
        rethrow(met);
    }
}

void AgreedRanks::abort(int exit_code)
{
    ranks_.abort(exit_code);
    std::_Exit(exit_code);
}

std::vector<std::byte> AgreedRanks::of_first(std::span<const std::byte> mine)
{
    return all_gather(rank() == 0 ? mine : std::span<const std::byte>()).front();
}

}  // namespace segfold
