#pragma once
// The faults of one text, collected so that one run tells several of them.
#include <string>
#include <vector>

#include "dsl/message/source.h"

namespace segfold {

/// A fault with its place in the text.
class PlacedError : public SpecError {
public:
    PlacedError(const SpecError& error, Position position) : SpecError(error), position_(position) {}
    [[nodiscard]] Position position() const { return position_; }

private:
    Position position_;
};

/// `spec_error` with its place.
PlacedError placed_error(const SourcePointer& source, Position position, const std::string& message,
                         const std::string& hint = {});

/// Thrown instead of a message that would only follow from an earlier one.
struct Silence {};

/// Most faults of a text that one run tells.
inline constexpr std::size_t kMostComplaints = 10;

/// Collects the faults of a text. A step that goes on after a fault must not report what follows from it.
class Complaints {
public:
    /// Throws all of them where this one is more than are told.
    void add(const PlacedError& error);
    [[nodiscard]] bool empty() const { return errors_.empty(); }
    /// Throws one SpecError: the messages in the order of their places, one below the other.
    void raise_if_any() const;

    /// Runs `step`; false if it has failed, with its message kept.
    template <class Step>
    bool attempt(const Step& step)
    {
        try {
            step();
            return true;
        } catch (const PlacedError& error) {
            add(error);
        } catch (const Silence&) {}
        return false;
    }

private:
    std::vector<PlacedError> errors_;
    bool more_ = false;
};

}  // namespace segfold
