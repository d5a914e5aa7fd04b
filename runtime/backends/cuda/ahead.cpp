#include "runtime/backends/cuda/ahead.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace segfold::cuda {
namespace {

constexpr unsigned kMostThreads = 16;
// Limits of a program with several plans. Larger programs save little more time, and a caller that needs one
// plan waits for the whole program.
constexpr std::size_t kMostVariants = 8;
constexpr std::size_t kMostTextBytes = 48 * 1024;

}  // namespace

std::deque<std::vector<Variant>> batches_of(std::span<const Variant> variants, std::size_t threads)
{
    std::deque<std::vector<Variant>> batches;
    if (variants.empty())
        return batches;
    batches.push_back({variants.front()});
    variants = variants.subspan(1);
    const std::size_t share = (variants.size() + threads - 1) / threads;
    const std::size_t most = std::min(share, kMostVariants);
    // Bytes in the last batch. The first batch counts as full, because it takes only one plan.
    std::size_t text_bytes = kMostTextBytes;
    for (const auto& variant : variants) {
        text_bytes += variant.request.source.size();
        if (text_bytes > kMostTextBytes || batches.back().size() == most) {
            batches.emplace_back();
            text_bytes = variant.request.source.size();
        }
        batches.back().push_back(variant);
    }
    return batches;
}

Ahead::Ahead(CompileCache& cache, unsigned threads) : cache_(cache)
{
    if (threads == 0)
        threads = std::clamp(std::thread::hardware_concurrency(), 1u, kMostThreads);
    for (unsigned i = 0; i < threads; ++i)
        threads_.emplace_back([this] { work(); });
}

Ahead::~Ahead()
{
    {
        const std::scoped_lock lock(mutex_);
        is_over_ = true;
    }
    woken_.notify_all();
    for (auto& thread : threads_)
        thread.join();
}

void Ahead::add(std::vector<Variant> variants)
{
    std::set<std::string> texts;  // texts of the plans seen so far
    const auto is_known = [&](const Variant& variant) {
        return !texts.insert(variant.request.source).second || cache_.contains(variant.request);
    };
    std::erase_if(variants, is_known);
    auto batches = batches_of(variants, threads_.size());
    {
        const std::scoped_lock lock(mutex_);
        waiting_ = std::move(batches);
    }
    woken_.notify_all();
}

void Ahead::work()
{
    for (;;) {
        std::vector<Variant> batch;
        {
            std::unique_lock lock(mutex_);
            woken_.wait(lock, [&] { return is_over_ || !waiting_.empty(); });
            if (is_over_)
                return;
            batch = std::move(waiting_.front());
            waiting_.pop_front();
        }
        // If a plan does not compile, the caller that needs it compiles it again and gets the error.
        cache_.prepare(batch);
    }
}

}  // namespace segfold::cuda
