// Adapts the back end "simt" to the common interface.
#include <fmt/format.h>

#include "dsl/error.h"
#include "runtime/backends/backend_table.h"
#include "runtime/backends/simt_backend.h"

namespace segfold {
namespace {

class SimtBackend : public Backend {
public:
    explicit SimtBackend(const BackendOptions& options) : seed_(options.schedule_seed) {}

    [[nodiscard]] std::string_view name() const override { return "simt"; }
    [[nodiscard]] std::string description() const override
    {
        const auto options = options_of(0);
        return fmt::format("{}, schedule {}, blocks {}, seed {}", host_threads_text(),
                           simt::name(options.schedule), simt::name(options.block_order), options.seed);
    }
    [[nodiscard]] bool runs_stages() const override { return true; }
    [[nodiscard]] bool has_schedules() const override { return true; }
    [[nodiscard]] std::unique_ptr<Timing> timing() override
    {
        throw InputError(
            "the back end simt looks for faults, and its times are not those of a GPU; take cuda or cpu");
    }

private:
    Results run_workload(const Workload& workload, const Emitted* text, const Circumstances& circumstances,
                         RunTimes& times) override
    {
        // A run that searches for faults has few blocks. Each block then takes several tiles, and faults
        // between tiles show.
        constexpr int kMultiprocessors = 4, kFewMultiprocessors = 2;
        const bool varies = circumstances.scratch_poison.has_value();
        return simt::run(workload, *text, options_of(circumstances.round), {},
                         varies ? kFewMultiprocessors : kMultiprocessors, circumstances.launches,
                         circumstances.shifted_elements, circumstances.scratch_poison, &times);
    }

    [[nodiscard]] simt::Options options_of(std::uint64_t round) const
    {
        return seed_ || round != 0 ? simt::options_from_seed(seed_.value_or(0) + round) : simt::Options{};
    }

    std::optional<std::uint64_t> seed_;
};

}  // namespace

std::unique_ptr<Backend> make_simt_backend(const BackendOptions& options)
{
    return std::make_unique<SimtBackend>(options);
}

}  // namespace segfold
