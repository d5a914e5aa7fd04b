#include "runtime/session/choice/plan_program.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/backends/cpu/program.h"

namespace segfold {

PlanProgram::PlanProgram(PlanChoice made)
    : choice(std::move(made)), text(fmt::format("{} ({})", choice.text(), choice.chosen_by()))
{}

std::shared_ptr<const cpu::LoadedText> PlanProgram::native(const Operator& op) const
{
    const std::lock_guard lock(mutex_);
    if (!native_)
        native_ = std::make_shared<const cpu::LoadedText>(op, choice.emitted);
    return native_;
}

std::shared_ptr<const PlanProgram> PlanPrograms::get(const PlannedPoint& point,
                                                     const std::function<PlanChoice()>& make)
{
    const auto is_of_point = [&](const std::shared_ptr<const PlanProgram>& program) {
        const auto& choice = program->choice;
        return choice.stage->name == point.stage->name && choice.source == point.source &&
               choice.emitted.configuration == point.configuration;
    };
    {
        const std::lock_guard lock(mutex_);
        if (const auto known = std::ranges::find_if(programs_, is_of_point); known != programs_.end())
            return *known;
    }
    return add(make());
}

std::shared_ptr<const PlanProgram> PlanPrograms::add(PlanChoice choice)
{
    auto program = std::make_shared<const PlanProgram>(std::move(choice));
    const std::lock_guard lock(mutex_);
    if (programs_.size() == kMost)
        programs_.erase(programs_.begin());
    programs_.push_back(program);
    return program;
}

}  // namespace segfold
