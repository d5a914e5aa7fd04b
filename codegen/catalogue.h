#pragma once
// The known stages and parts: embedded in the program, or in a folder.
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

/// True if a stage maps elements itself after it folds them. It then needs no second launch for the map.
[[nodiscard]] bool is_fused(const Stage& stage);

/// A stage with its rank among those that can serve.
struct RankedStage {
    const Stage* stage = nullptr;
    /// The value of `suits`; for a stage without it the percentage of the best stage's rate that rows let
    /// expect, so that `suits` above 100 says: better than any that was measured. A stage that has to make
    /// offsets of flags or keys first ranks below 2.
    double rank = 0;
    std::optional<double> expected_share = {};  ///< of the best stage's rate; none where `suits` ranks
};

class Catalogue {
public:
    /// The stages embedded in the program.
    static const Catalogue& standard();
    /// The stages for the host's cores, from kernels/cpu. They have their own ladder and ranks.
    static const Catalogue& native();
    /// The stages and parts in `directory`, which must be laid out like kernels/. Throws InputError,
    /// SpecError.
    static Catalogue from_directory(const std::string& directory);
    /// The embedded stages and parts, overlaid with the files in `directory`: a file replaces the embedded
    /// file of the same path, or is added. Messages name these files with `directory` as a prefix. Throws
    /// InputError, SpecError.
    static Catalogue overlaid(const std::string& directory);

    /// The stages in the order of the ladder: each comes after the stage on which it improves.
    [[nodiscard]] const std::vector<Stage>& stages() const { return *stages_; }
    /// Returns the stage called `name`. Throws InputError if there is none.
    [[nodiscard]] const Stage& stage(std::string_view name) const;
    /// Returns one of the catalogue's stages with shared ownership, so that it may outlive the catalogue.
    [[nodiscard]] std::shared_ptr<const Stage> share(const Stage& stage) const { return {stages_, &stage}; }
    /// The probes in the order of their names.
    [[nodiscard]] const std::vector<Probe>& probes() const { return probes_; }
    /// Returns the probe called `name`. Throws InputError if there is none.
    [[nodiscard]] const Probe& probe(std::string_view name) const;
    /// Returns the part at `path`. Throws SpecError if there is none.
    [[nodiscard]] PartText part(std::string_view path) const;
    /// The path that users see for a stage or part with this `place`: "kernels/parts/reduce/run.cuh", or a
    /// path in the overlaid folder.
    [[nodiscard]] std::string shown(const std::string& place) const;

    /// The reason why `stage` cannot serve `problem`, as a sentence without a full stop; none if it can.
    [[nodiscard]] std::optional<std::string> unmet(const Stage& stage, const Problem& problem) const;
    /// Returns unmet(stage, problem) for a problem whose plan_facts() are known.
    [[nodiscard]] std::optional<std::string> unmet(const Stage& stage, const Problem& problem,
                                                   const FormulaNames& facts) const;
    /// Returns whether unmet() is none.
    [[nodiscard]] bool serves(const Stage& stage, const Problem& problem, const FormulaNames& facts) const;
    /// Throws InputError unless `stage` can serve `problem`. The message gives the reason and the stages that
    /// can.
    void require(const Stage& stage, const Problem& problem) const;
    /// The stages that can serve, without rungs of the ladder, best first. `facts` are plan_facts(). Of equal
    /// ones the first in stages() comes first.
    [[nodiscard]] std::vector<RankedStage> ranked(const FormulaNames& facts, const Problem& problem) const;
    /// The default stage: the first that is ranked(). Throws InputError if no stage can serve.
    [[nodiscard]] const Stage& rule_of_thumb(const Problem& problem, const Shape& shape) const;
    /// Returns rule_of_thumb() for a problem whose plan_facts() are known.
    [[nodiscard]] const Stage& rule_of_thumb_by(const FormulaNames& facts, const Problem& problem) const;

private:
    struct Part {
        std::string text;
        std::string place;
    };

    /// `folder` is the prefix of `path` in messages; empty for embedded files.
    void add(std::string path, std::string text, const std::string& folder = "");
    void order();
    [[nodiscard]] std::string usable(const Problem& problem, bool rungs) const;

    std::shared_ptr<std::vector<Stage>> stages_ = std::make_shared<std::vector<Stage>>();
    std::vector<Probe> probes_;
    std::map<std::string, Part, std::less<>> parts_;
    std::string folder_;  ///< overlaid on the embedded files
};

}  // namespace segfold
