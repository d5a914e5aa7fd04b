#pragma once
// Chosen stages with their texts, which plans of all sizes share.
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/session/choice/choice.h"

namespace segfold {

namespace cpu {
class LoadedText;
}

/// A chosen stage with its text, which is the same for all sizes of arrays.
class PlanProgram {
public:
    explicit PlanProgram(PlanChoice made);

    const PlanChoice choice;
    const std::string text;  ///< the text of Folded::plan()

    /// Returns the native code of the choice. The first call compiles and loads it. Throws DeviceError if the
    /// text does not compile.
    [[nodiscard]] std::shared_ptr<const cpu::LoadedText> native(const Operator& op) const;

private:
    mutable std::mutex mutex_;
    mutable std::shared_ptr<const cpu::LoadedText> native_;
};

/// The programs that plans of a problem use. Several threads may use this object.
class PlanPrograms {
public:
    /// Returns the kept program of a stage and configuration. If there is none, makes one from `make()` and
    /// keeps it.
    [[nodiscard]] std::shared_ptr<const PlanProgram> get(const PlannedPoint& point,
                                                         const std::function<PlanChoice()>& make);
    /// Makes a program of `choice` and keeps it.
    std::shared_ptr<const PlanProgram> add(PlanChoice choice);

private:
    static constexpr std::size_t kMost = 16;

    std::mutex mutex_;
    std::vector<std::shared_ptr<const PlanProgram>> programs_;  ///< oldest first
};

}  // namespace segfold
