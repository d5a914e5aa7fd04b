#include "runtime/cli/verbs/judge_ranks.h"

#include <cstring>

#include "runtime/backends/cuda/driver/device.h"
#include "runtime/cli/failure.h"
#include "runtime/scale/ranks/rank_cores.h"

namespace segfold::cli {

int judge_by_ranks(const Words& words, Communicator& ranks,
                   const std::function<int(AgreedRanks& ranks)>& judge)
{
    share_cores(ranks);
    AgreedRanks agreed(ranks);
    int exit_code = 0;
    try {
        agreed.together([&] {
            const int own = judge(agreed);
            const auto first = agreed.of_first(std::as_bytes(std::span(&own, 1)));
            std::memcpy(&exit_code, first.data(), sizeof exit_code);
        });
    } catch (const std::exception& error) {
        const auto failure = failure_of(error);
        return ranks.rank() == 0 ? report(words, failure) : failure.exit_code;
    }
    return exit_code;
}

std::optional<int> device_of_rank(const Arguments& arguments, const Communicator& ranks)
{
    if (arguments.has("device"))
        return std::nullopt;
    const auto devices = cuda::devices();
    if (devices.empty())
        return std::nullopt;
    return devices[static_cast<std::size_t>(ranks.local_rank()) % devices.size()].ordinal;
}

void refuse_spreading_flags(const Arguments& arguments)
{
    for (const auto flag : {"slices", "devices"})
        if (arguments.declares(flag))
            arguments.refuse(flag, "cuts what one process folds, and ranks of MPI have a part each");
}

}  // namespace segfold::cli
