#include "codegen/order/grown_configurations.h"

#include <algorithm>
#include <span>

#include "dsl/embedded_file.h"
#include "dsl/lasting.h"

namespace segfold {

std::span<const EmbeddedFile> embedded_ranks();

const GrownConfigurations& GrownConfigurations::standard()
{
    static const GrownConfigurations& grown = lasting([] {
        const auto files = embedded_ranks();
        return GrownConfigurations(std::ranges::find(files, "configurations.txt", &EmbeddedFile::path)->text);
    });
    return grown;
}

GrownConfigurations::GrownConfigurations(std::string_view text)
{
    Grown* grown = nullptr;
    std::vector<std::string> names;  // names of the stage's tunables
    GrownText line("kernels/ranks/configurations.txt", text);
    const auto require_all = [&] {
        if (grown != nullptr && !grown->tree.has_leaves_below(grown->configurations.size()))
            line.fail("a leaf of the stage above names a configuration that is not there");
    };
    while (line.next_line()) {
        if (line.takes("stage")) {
            require_all();
            grown = &stages_[std::string(line.word())];
            (void)grown->tree.add(line, line.word());
            for (names.clear(); !line.rest().empty();)
                names.emplace_back(line.word());
            continue;
        }
        if (grown == nullptr)
            line.fail("a configuration stands before the first stage");
        auto& configuration = grown->configurations.emplace_back();
        for (const auto& name : names)
            configuration[name] = line.number<int>();
    }
    require_all();
}

const std::map<std::string, int>& GrownConfigurations::of(std::string_view stage,
                                                          const FormulaNames& plan_facts) const
{
    static const auto& none = lasting([] { return std::map<std::string, int>(); });
    const auto found = stages_.find(stage);
    if (found == stages_.end() || plan_facts.empty())
        return none;
    const auto& [tree, configurations] = found->second;
    return configurations[static_cast<std::size_t>(tree.leaf(0, order_facts(plan_facts)))];
}

}  // namespace segfold
