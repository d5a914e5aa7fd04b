#pragma once
// A cache of a session's emitted texts. Folds and plans of different sizes often need the same text.
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "codegen/emit.h"

namespace segfold {

/// Keeps the texts that were used last. To emit a text takes half a millisecond, which is longer than a short
/// fold.
///
/// Several threads may call get(). Stages and catalogues must outlive this object.
class EmittedTexts {
public:
    /// Returns the result of emit() for these arguments, from the cache if possible. Throws like emit().
    [[nodiscard]] Emitted get(const Problem& problem, const Stage& stage, const Configuration& configuration,
                              const Catalogue& catalogue, Numbers numbers);

    /// The number of kept texts, at most 64.
    [[nodiscard]] std::size_t size() const;

private:
    using Entry = std::pair<std::string, std::shared_ptr<const Emitted>>;

    mutable std::mutex mutex_;
    std::list<Entry> entries_;  ///< the most recently used entry comes first
};

}  // namespace segfold
