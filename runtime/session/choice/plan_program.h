#pragma once
// Programs: choices with their texts, which plans of all sizes share.
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/session/choice/choice.h"

namespace segfold {

namespace cpu {
class NativeText;
}

/// A choice with what does not depend on sizes.
class PlanProgram {
public:
    explicit PlanProgram(PlanChoice made);

    const PlanChoice choice;
    const std::string text;  ///< as Folded::plan()

    /// The choice's text, a native one, loaded at the first call. Throws DeviceError if it does not compile.
    [[nodiscard]] std::shared_ptr<const cpu::NativeText> native(const Operator& op) const;

private:
    mutable std::mutex mutex_;
    mutable std::shared_ptr<const cpu::NativeText> native_;
};

/// The programs that plans of a problem have taken. Several threads may use it.
class PlanPrograms {
public:
    /// The program of a point, made by `make` where it is not kept.
    [[nodiscard]] std::shared_ptr<const PlanProgram> get(const PlannedPoint& point,
                                                         const std::function<PlanChoice()>& make);
    /// Keeps a program that was chosen otherwise.
    std::shared_ptr<const PlanProgram> add(PlanChoice choice);

private:
    static constexpr std::size_t kMost = 16;

    std::mutex mutex_;
    std::vector<std::shared_ptr<const PlanProgram>> programs_;  ///< the oldest first
};

}  // namespace segfold
