#pragma once
// The known stages and parts: embedded in the program, or files of a folder.
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

/// Whether a stage maps elements itself, after folding them, so that no launch of its own has to.
[[nodiscard]] bool is_fused(const Stage& stage);

class Catalogue {
public:
    /// The stages embedded in the program.
    static const Catalogue& standard();
    /// The stages for the host's cores, kernels/cpu; they have a ladder and ranks of their own.
    static const Catalogue& native();
    /// The stages and parts below `directory`, which looks like kernels/. Throws InputError, SpecError.
    static Catalogue from_directory(const std::string& directory);
    /// The embedded stages and parts with those below `directory` laid over them: a file replaces the one of
    /// the same path, or is added. Messages name such files with `directory` before them. Throws InputError,
    /// SpecError.
    static Catalogue overlaid(const std::string& directory);

    /// In the order of the ladder: a stage comes after the one it improves on.
    [[nodiscard]] const std::vector<Stage>& stages() const { return *stages_; }
    /// Throws InputError for an unknown stage.
    [[nodiscard]] const Stage& stage(std::string_view name) const;
    /// One of its stages, for who may outlive the catalogue.
    [[nodiscard]] std::shared_ptr<const Stage> share(const Stage& stage) const { return {stages_, &stage}; }
    /// By name.
    [[nodiscard]] const std::vector<Probe>& probes() const { return probes_; }
    /// Throws InputError for an unknown probe.
    [[nodiscard]] const Probe& probe(std::string_view name) const;
    /// Throws SpecError for an unknown part.
    [[nodiscard]] PartText part(std::string_view path) const;
    /// A stage's `place` or a part's as people find it: "kernels/parts/reduce/run.cuh", or below a folder
    /// laid over.
    [[nodiscard]] std::string shown(const std::string& place) const;

    /// Why `stage` cannot serve `problem`, as a sentence without its end; nothing if it can.
    [[nodiscard]] std::optional<std::string> unmet(const Stage& stage, const Problem& problem) const;
    /// The same where plan_facts() of the problem are known.
    [[nodiscard]] std::optional<std::string> unmet(const Stage& stage, const Problem& problem,
                                                   const FormulaNames& facts) const;
    /// Throws InputError with the text of unmet() and the stages that can serve.
    void require(const Stage& stage, const Problem& problem) const;
    /// The stage taken when the user chooses none: among those that can serve, the one of the greatest rank
    /// by its own `suits`; of equals the first in stages(). Rungs are left out. Throws InputError if none can
    /// serve.
    [[nodiscard]] const Stage& rule_of_thumb(const Problem& problem, const Shape& shape) const;
    /// The same where plan_facts() are known.
    [[nodiscard]] const Stage& rule_of_thumb_by(const FormulaNames& facts, const Problem& problem) const;

private:
    struct Part {
        std::string text;
        std::string place;
    };

    /// `folder` stands before `path` in messages; it is empty for embedded files.
    void add(std::string path, std::string text, const std::string& folder = "");
    void order();
    [[nodiscard]] std::string usable(const Problem& problem, bool rungs) const;

    std::shared_ptr<std::vector<Stage>> stages_ = std::make_shared<std::vector<Stage>>();
    std::vector<Probe> probes_;
    std::map<std::string, Part, std::less<>> parts_;
    std::string folder_;  ///< laid over the embedded files
};

}  // namespace segfold
