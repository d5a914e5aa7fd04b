#pragma once
// Compiles plans in the background before they are needed.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "runtime/backends/cuda/compile/compile_batch.h"

namespace segfold::cuda {

/// Divides plans into programs, in the given order.
///
/// The first plan is alone in its program, because it is needed next. The other plans share programs of at
/// most 8 plans and 48 KiB of text. If there are few plans, programs are smaller, so that each of `threads`
/// threads has a program to compile.
[[nodiscard]] std::deque<std::vector<Variant>> batches_of(std::span<const Variant> variants,
                                                          std::size_t threads);

/// Compiles plans on background threads. Each add() replaces the waiting plans.
class Ahead {
public:
    /// `cache` must outlive this object. If `threads` is 0, there is one thread per core, at most 16.
    explicit Ahead(CompileCache& cache, unsigned threads = 0);
    /// Waits for running compilations and drops compilations that have not begun.
    ~Ahead();
    Ahead(const Ahead&) = delete;
    Ahead& operator=(const Ahead&) = delete;

    /// Replaces the waiting plans by `variants`. Leaves out plans that are in the cache, and plans whose text
    /// equals that of an earlier plan.
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
