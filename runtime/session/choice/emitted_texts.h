#pragma once
// Texts that a session has emitted, for folds and plans that take the same ones over other sizes.
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "codegen/emit.h"

namespace segfold {

/// Remembers the texts used last. Emitting one takes half a millisecond, which is more than a short fold.
///
/// Several threads may ask. Stages and catalogues must outlive it.
class EmittedTexts {
public:
    /// What emit() gives for the same arguments. Throws what it throws.
    [[nodiscard]] Emitted get(const Problem& problem, const Stage& stage, const Configuration& configuration,
                              const Catalogue& catalogue, Numbers numbers);

    /// How many are remembered, 64 at most.
    [[nodiscard]] std::size_t size() const;

private:
    using Entry = std::pair<std::string, std::shared_ptr<const Emitted>>;

    mutable std::mutex mutex_;
    std::list<Entry> entries_;  ///< the one used last in front
};

}  // namespace segfold
