#include "runtime/backends/cuda/compile/resource_report.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace segfold::cuda {
namespace {

// Returns the number just before `unit` in a line, such as 744 for the unit " bytes stack frame" in "... 744
// bytes stack frame, ...". Returns 0 if the line does not have `unit`.
int number_before(std::string_view line, std::string_view unit)
{
    const std::size_t end = line.find(unit);
    if (end == std::string_view::npos)
        return 0;
    std::size_t begin = end;
    while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9')
        --begin;
    int number = 0;
    std::from_chars(line.data() + begin, line.data() + end, number);
    return number;
}

// Returns the text between `before` and `after`; empty if one of the two is missing.
std::string_view between(std::string_view line, std::string_view before, std::string_view after)
{
    const std::size_t begin = line.find(before);
    if (begin == std::string_view::npos)
        return {};
    line.remove_prefix(begin + before.size());
    return line.substr(0, line.find(after));
}

// Reads the report line by line.
//
// "Compiling entry function" begins a kernel. "Function properties for" names a function, whose stack frame
// is in the next line. Device functions that are not inlined have such lines too. A line with "Used" ends a
// kernel.
class ReportReader {
public:
    // Returns false if the line is not part of the report.
    bool read(std::string_view line)
    {
        if (line.find(" bytes stack frame, ") != std::string_view::npos) {
            read_frame(line);
            return true;
        }
        // Lines with a code are warnings, such as "(C7510) Potential Performance Loss".
        if (!line.starts_with("ptxas info") || line.find(": (C") != std::string_view::npos)
            return false;
        if (const auto name = between(line, "Compiling entry function '", "'"); !name.empty())
            kernels.push_back({.kernel = std::string(name)});
        else if (const auto owner = between(line, "Function properties for ", " "); !owner.empty())
            frame_owner_ = owner;
        else if (line.find(": Used ") != std::string_view::npos)
            read_usage(line);
        return true;
    }

    std::vector<KernelResources> kernels;

private:
    void read_frame(std::string_view line)
    {
        if (kernels.empty() || kernels.back().kernel != frame_owner_)
            return;
        KernelResources& kernel = kernels.back();
        kernel.stack_bytes = number_before(line, " bytes stack frame");
        kernel.spill_store_bytes = number_before(line, " bytes spill stores");
        kernel.spill_load_bytes = number_before(line, " bytes spill loads");
    }

    void read_usage(std::string_view line)
    {
        if (kernels.empty())
            return;
        KernelResources& kernel = kernels.back();
        kernel.registers = number_before(line, " registers");
        kernel.static_shared_bytes = number_before(line, " bytes smem");
        kernel.stack_bytes =
            std::max(kernel.stack_bytes, number_before(line, " bytes cumulative stack size"));
    }

    std::string frame_owner_;
};

}  // namespace

std::pair<std::vector<KernelResources>, std::string> split_resource_report(std::string_view log)
{
    ReportReader reader;
    std::string rest;
    while (!log.empty()) {
        const std::size_t length = std::min(log.find('\n'), log.size() - 1) + 1;
        const std::string_view line = log.substr(0, length);
        if (!reader.read(line.substr(0, line.find('\n'))))
            rest += line;
        log.remove_prefix(length);
    }
    rest.erase(rest.find_last_not_of(" \n\r\t") + 1);
    std::ranges::sort(reader.kernels, {}, &KernelResources::kernel);
    return {std::move(reader.kernels), std::move(rest)};
}

}  // namespace segfold::cuda
