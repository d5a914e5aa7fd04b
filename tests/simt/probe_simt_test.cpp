// Runs every probe on the fiber executor in all of its configurations. The results equal those of the host.
#include <gtest/gtest.h>

#include "codegen/catalogue.h"
#include "runtime/measure/bench/probe_answers.h"
#include "runtime/simt/program.h"

namespace segfold::probe_simt_test {
namespace {

constexpr int kNumElements = 600;  ///< two blocks of 256 threads and a part of one

std::size_t bytes_of(const Scratch& buffer, const FormulaNames& names)
{
    return static_cast<std::size_t>(buffer.count.value(names)) * (buffer.element == "u64" ? 8 : 4);
}

/// Runs a text. Returns the answer of judge_probe().
std::string run(const Probe& probe, const Configuration& configuration, const EmittedProbe& emitted,
                std::uint64_t seed)
{
    FormulaNames names(configuration.begin(), configuration.end());
    names["num_elements"] = kNumElements;
    const std::vector<std::string> kernels = {emitted.launch.kernel};
    const auto program = simt::Program::compile(emitted.source, kernels);
    std::map<std::string, simt::Buffer> buffers;
    for (const auto& buffer : emitted.inputs) {
        auto& own = buffers[buffer.name] = simt::Buffer(buffer.name, bytes_of(buffer, names));
        bench::fill_probe_input(own.as<std::uint32_t>());
    }
    for (const auto& buffer : emitted.scratch)
        buffers[buffer.name] = simt::Buffer(buffer.name, bytes_of(buffer, names));
    auto& output = buffers[emitted.output.name] =
        simt::Buffer(emitted.output.name, bytes_of(emitted.output, names));
    std::memset(output.data(), bench::kProbePoison, output.bytes());
    int num_elements = kNumElements;
    std::map<std::string, std::byte*> pointers;
    std::vector<void*> arguments;
    for (const auto& parameter : emitted.parameters) {
        if (parameter == "num_elements") {
            arguments.push_back(&num_elements);
            continue;
        }
        pointers[parameter] = buffers.at(parameter).data();
        arguments.push_back(&pointers[parameter]);
    }
    simt::Dimensions dimensions;
    dimensions.grid_x = static_cast<unsigned>(emitted.launch.grid.value(names));
    dimensions.block_x = static_cast<unsigned>(emitted.launch.block.value(names));
    program.launch(emitted.launch.kernel, dimensions, arguments, simt::options_from_seed(seed));
    return bench::judge_probe(bench::answer_of(probe.name, names), {output.data(), output.bytes()},
                              emitted.output.element == "u64" ? 8 : 4);
}

EmittedProbe emit_standard(const Probe& probe, const Configuration& configuration)
{
    return emit(probe, configuration, [](std::string_view path) { return Catalogue::standard().part(path); });
}

/// The default configuration with one tunable changed: to each of its values, or, from long lists, to some.
std::vector<Configuration> some_configurations(const Probe& probe)
{
    std::vector<Configuration> all;
    for (const auto& tunable : probe.tunables) {
        const std::size_t step = tunable.values.size() > 9 ? 10 : 1;
        for (std::size_t i = 0; i < tunable.values.size(); i += step)
            all.push_back(configure(probe, {{tunable.name, tunable.values[i]}}));
    }
    return all;
}

TEST(ProbesOnSimt, ComputeWhatTheHostDoes)
{
    for (const auto& probe : Catalogue::standard().probes())
        for (const auto& configuration : some_configurations(probe))
            EXPECT_EQ(run(probe, configuration, emit_standard(probe, configuration), 3), "")
                << probe.name << " " << print(configuration);
}

TEST(ProbesOnSimt, PaddedAndWideRowsAreReadAlike)
{
    const auto& probe = Catalogue::standard().probe("bank_conflicts");
    for (const int stride : {2, 32})
        for (const int bytes : {4, 8}) {
            const auto configuration =
                configure(probe, {{"stride", stride}, {"padding", 1}, {"item_bytes", bytes}, {"rounds", 64}});
            EXPECT_EQ(run(probe, configuration, emit_standard(probe, configuration), 5), "") << stride;
        }
}

TEST(ProbesOnSimt, AWrongKernelIsNoticed)
{
    const auto planted = [](const std::string& name, const std::string& part, const std::string& by) {
        const auto& probe = Catalogue::standard().probe(name);
        const auto configuration = configure(probe, {});
        auto emitted = emit_standard(probe, configuration);
        const auto place = emitted.source.find(part);
        EXPECT_NE(place, std::string::npos) << name << " lacks " << part;
        if (place != std::string::npos)
            emitted.source.replace(place, part.size(), by);
        return run(probe, configuration, emitted, 1);
    };
    EXPECT_NE(planted("divergence", "% 2 == 0", "% 2 == 1"), "");
    EXPECT_NE(planted("shifted_copy", "results[i + kOffset]", "results[i ^ 1]"), "");
    EXPECT_NE(planted("strided_copy", "i < num_elements", "i + 1 < num_elements"), "");
    EXPECT_NE(planted("bank_conflicts", "total * 5", "total * 3"), "");
    EXPECT_NE(planted("accumulators", "round ^ x", "round + x"), "");
}

}  // namespace
}  // namespace segfold::probe_simt_test
