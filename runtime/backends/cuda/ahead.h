#pragma once
// Plans compiled in the background, before somebody needs them.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "runtime/backends/cuda/compile/compile_batch.h"

namespace segfold::cuda {

/// Parts plans into programs: the first by itself, as it is needed next, the others up to eight to a program
/// of at most 48 KiB of text, but so few that each of `threads` threads has a program. In the order given.
[[nodiscard]] std::deque<std::vector<Variant>> batches_of(std::span<const Variant> variants,
                                                          std::size_t threads);

/// Compiles the plans of the last expect() in the background.
class Ahead {
public:
    /// The cache must outlive this object. `threads` of 0: as many as cores, at most 16.
    explicit Ahead(CompileCache& cache, unsigned threads = 0);
    /// Waits for the compilation under way, and leaves the rest.
    ~Ahead();
    Ahead(const Ahead&) = delete;
    Ahead& operator=(const Ahead&) = delete;

    /// Replaces the plans that still wait. Passes over plans in the cache, and plans with the text of an
    /// earlier one.
    void add(std::vector<Variant> variants);

private:
    void work();

    CompileCache& cache_;
    std::mutex mutex_;
    std::condition_variable woken_;
    std::deque<std::vector<Variant>> waiting_;
    bool is_over_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace segfold::cuda
