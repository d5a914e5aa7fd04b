#pragma once
// The known stages, probes and parts, read from the program itself or from a folder.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/configuration.h"
#include "codegen/facts.h"
#include "codegen/probe.h"
#include "codegen/problem.h"
#include "codegen/stage.h"

namespace segfold {

/// True if the stage's kernel runs the operator's `map` as well as the fold. Such a stage needs no second
/// launch for `map`.
[[nodiscard]] bool is_fused(const Stage& stage);

/// A stage that can serve a problem, with its rank. The best stage has the highest rank.
struct RankedStage {
    const Stage* stage = nullptr;
    /// Value of the stage's `suits` line. Without this line, the rate predicted from measured rows, in
    /// percent of the best stage's rate. So a stage whose `suits` exceeds 100 comes before all measured
    /// stages. The rank is below 2 if offsets must first be computed from flags or keys.
    double rank = 0;
    /// The predicted rate as a share of the best stage's rate; none if the rank does not come from it.
    std::optional<double> expected_share = {};
};

class Catalogue {
public:
    /// The stages embedded in the program.
    static const Catalogue& standard();
    /// The embedded stages for the host's cores, from kernels/cpu. Their ranks are not comparable with the
    /// ranks of stages for GPUs.
    static const Catalogue& native();
    /// Reads the stages and parts in `directory`, which must be laid out like kernels/. Throws InputError if
    /// the folder or a file cannot be read, and SpecError if a file is faulty.
    static Catalogue from_directory(const std::string& directory);
    /// Returns the embedded stages and parts with changes by the user. A file in `directory` replaces the
    /// embedded file of the same path, or is added if there is no such file. Messages name these files with
    /// `directory` as a prefix. Throws InputError if the folder or a file cannot be read, or if a file has no
    /// place in kernels/. Throws SpecError if a file is faulty.
    static Catalogue overlaid(const std::string& directory);

    /// All stages in order: a stage comes after the stage on which it improves (`Stage::after`).
    [[nodiscard]] const std::vector<Stage>& stages() const { return *stages_; }
    /// Returns the stage called `name`. Throws InputError if no stage has this name.
    [[nodiscard]] const Stage& stage(std::string_view name) const;
    /// Returns a shared pointer to `stage`, which must be in this catalogue. The pointer stays valid after
    /// the catalogue is destroyed.
    [[nodiscard]] std::shared_ptr<const Stage> share(const Stage& stage) const { return {stages_, &stage}; }
    /// All probes (kernels that measure a property of a GPU), sorted by name.
    [[nodiscard]] const std::vector<Probe>& probes() const { return probes_; }
    /// Returns the probe called `name`. Throws InputError if no probe has this name.
    [[nodiscard]] const Probe& probe(std::string_view name) const;
    /// Returns the part at `path`. Throws SpecError if no part has this path.
    [[nodiscard]] PartText part(std::string_view path) const;
    /// Returns the path that users see for the `place` of a stage or part: "kernels/parts/reduce/run.cuh", or
    /// a path in the overlaid folder.
    [[nodiscard]] std::string shown(const std::string& place) const;

    /// Returns the reason why `stage` cannot serve `problem`, as a sentence without a full stop. Returns
    /// nothing if the stage can serve it.
    [[nodiscard]] std::optional<std::string> unmet(const Stage& stage, const Problem& problem) const;
    /// Same as unmet(stage, problem), without computing the facts again. `facts` must be the value of
    /// plan_facts().
    [[nodiscard]] std::optional<std::string> unmet(const Stage& stage, const Problem& problem,
                                                   const FormulaNames& facts) const;
    /// True if `stage` can serve `problem`. `facts` must be the value of plan_facts().
    [[nodiscard]] bool serves(const Stage& stage, const Problem& problem, const FormulaNames& facts) const;
    /// Throws InputError if `stage` cannot serve `problem`. The message gives the reason and lists stages
    /// that can serve the problem.
    void require(const Stage& stage, const Problem& problem) const;
    /// Returns the stages that can serve `problem`, best first. Omits stages that are only for measurements.
    /// `facts` must be the value of plan_facts(). Stages of equal rank keep the order of stages().
    [[nodiscard]] std::vector<RankedStage> ranked(const FormulaNames& facts, const Problem& problem) const;
    /// Returns the default stage, which is the first of ranked(). Throws InputError if no stage can serve
    /// `problem`.
    [[nodiscard]] const Stage& rule_of_thumb(const Problem& problem, const Shape& shape) const;
    /// Same as rule_of_thumb(), without computing the facts again. `facts` must be the value of plan_facts().
    [[nodiscard]] const Stage& rule_of_thumb_by(const FormulaNames& facts, const Problem& problem) const;

private:
    struct Part {
        std::string text;
        std::string place;
    };

    /// Adds the file at `path` as a stage, a probe or a part. `folder` is the prefix of `path` in messages;
    /// empty for embedded files.
    void add(std::string path, std::string text, const std::string& folder = "");
    void order();
    [[nodiscard]] std::string usable(const Problem& problem, bool rungs) const;

    std::shared_ptr<std::vector<Stage>> stages_ = std::make_shared<std::vector<Stage>>();
    std::vector<Probe> probes_;
    std::map<std::string, Part, std::less<>> parts_;
    std::string folder_;  ///< folder whose files replace embedded files; empty if there is none
};

}  // namespace segfold
