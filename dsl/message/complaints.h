#pragma once
// Collects the faults of a text, so that one run reports several.
#include <string>
#include <vector>

#include "dsl/message/source.h"

namespace segfold {

/// A fault and its place in the text.
class PlacedError : public SpecError {
public:
    PlacedError(const SpecError& error, Position position) : SpecError(error), position_(position) {}
    [[nodiscard]] Position position() const { return position_; }

private:
    Position position_;
};

/// Makes the error of spec_error() and keeps its place.
PlacedError placed_error(const SourcePointer& source, Position position, const std::string& message,
                         const std::string& hint = {});

/// Thrown instead of an error if a fault is a consequence of a reported fault. Carries no message.
struct Silence {};

/// Largest number of faults of one text that are reported.
inline constexpr std::size_t kMostComplaints = 10;

/// Collects the faults of a text. After a fault, later steps must not report its consequences.
class Complaints {
public:
    /// Adds a fault. Throws all faults once there are more than kMostComplaints.
    void add(const PlacedError& error);
    [[nodiscard]] bool empty() const { return errors_.empty(); }
    /// Throws one SpecError with all messages, ordered by place. Does nothing if there are none.
    void raise_if_any() const;

    /// Runs `step`. If the step throws a fault or Silence, keeps the fault and returns false.
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
