// Which headers of CCCL peers take: the layouts of folders, what names them, and what ./segfold fetches.
#include "runtime/measure/bench/peers/cccl.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "codegen/peers/peer.h"
#include "runtime/measure/bench/peers/peer_library.h"
#include "runtime/support/processes/process.h"
#include "tests/common/files.h"

namespace segfold::bench::cccl_test {
namespace {

namespace fs = std::filesystem;

/// Sets a variable of the environment, or removes it, until its own end.
class Variable {
public:
    Variable(const char* name, const std::string& value) : name_(name)
    {
        if (const char* before = std::getenv(name)) {
            before_ = before;
            was_set_ = true;
        }
        if (value.empty())
            unsetenv(name);
        else
            setenv(name, value.c_str(), 1);
    }
    ~Variable()
    {
        if (was_set_)
            setenv(name_, before_.c_str(), 1);
        else
            unsetenv(name_);
    }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

private:
    const char* name_;
    std::string before_;
    bool was_set_ = false;
};

class Cccl : public testing::Test {
protected:
    /// Writes a file below folders that it makes.
    void write(const std::string& name, const std::string& text) const
    {
        fs::create_directories(fs::path(folder_.file(name)).parent_path());
        (void)folder_.write(name, text);
    }

    void write_program(const std::string& name, const std::string& text) const
    {
        write(name, text);
        fs::permissions(folder_.file(name), fs::perms::owner_all);
    }

    /// Headers of a version that refuse compilers before CUDA 12, and have no overload of any peer.
    void write_headers(const std::string& folder, int version) const
    {
        write(folder + "/cub/version.cuh", "#pragma once\n");
        write(folder + "/cub/device/device_segmented_reduce.cuh", "#pragma once\n");
        write(folder + "/cuda/std/__cccl/version.h",
              "#define CCCL_VERSION " + std::to_string(version) + "\n");
        write(folder + "/cuda/std/__cccl/compiler.h",
              "#  error \"CUDA versions below 12 are not supported.\" \\\n");
    }

    void write_toolkit(const std::string& folder, const std::string& release) const
    {
        write_program(folder + "/bin/nvcc", "#!/bin/sh\necho 'Cuda compilation tools, release " + release +
                                                ", V" + release + ".33'\n");
    }

    [[nodiscard]] fs::path path(const std::string& name) const { return folder_.file(name); }

    TemporaryFolder folder_;
    Variable unset_{"SEGFOLD_CCCL", ""};
};

TEST_F(Cccl, HeadersLieAsToolkitsAndWheelsHaveThem)
{
    for (const std::string headers : {"", "/include", "/include/cccl", "/nvidia/cu13/include/cccl"}) {
        const auto folder = "of" + std::to_string(headers.size());
        write_headers(folder + headers, 3005000);
        EXPECT_EQ(cccl_in(path(folder)), path(folder + headers));
        EXPECT_EQ(named_cccl(path(folder), "--peers"), fs::canonical(path(folder + headers)));
    }
    write_headers("two/nvidia/cu12/include", 2008000);
    write_headers("two/nvidia/cu13/include/cccl", 3005000);
    EXPECT_EQ(cccl_in(path("two")), path("two/nvidia/cu13/include/cccl"));
    write("none/include/cccl/thrust/version.h", "");
    EXPECT_EQ(cccl_in(path("none")), "");
    EXPECT_EQ(cccl_in(path("absent")), "");
}

TEST_F(Cccl, VersionsAreRead)
{
    write_headers("headers", 3012004);
    EXPECT_EQ(cccl_description(path("headers")), "CCCL 3.12.4");
    EXPECT_EQ(cccl_description(path("absent")), "CCCL of unknown version");
}

TEST_F(Cccl, FoldersWithoutHeadersAreRefused)
{
    write("empty/readme.txt", "");
    EXPECT_EQ(
        refusal([&] { (void)named_cccl(path("absent"), "--peers"); }),
        "--peers: there is no folder " + folder_.file("absent") + "; name one with the headers of CCCL");
    EXPECT_EQ(refusal([&] { (void)named_cccl(path("empty/readme.txt"), "--peers"); }),
              "--peers: there is no folder " + folder_.file("empty/readme.txt") +
                  "; name one with the headers of CCCL");
    EXPECT_EQ(refusal([&] { (void)named_cccl(path("empty"), "--peers"); }),
              "--peers: " + folder_.file("empty") +
                  " has no headers of CCCL; cub/version.cuh must be in it, or in include/cccl or include "
                  "below");
    const Variable named("SEGFOLD_CCCL", folder_.file("empty"));
    const auto expected = "SEGFOLD_CCCL: " + folder_.file("empty") +
                          " has no headers of CCCL; cub/version.cuh must be in it, or in include/cccl or "
                          "include below";
    EXPECT_EQ(refusal([] { (void)cccl_folder(); }), expected);
    EXPECT_EQ(refusal([] { (void)PeerToolkit(); }), expected);
}

TEST_F(Cccl, WhatIsNamedComesBeforeTheToolkitsOwn)
{
    write_toolkit("toolkit", "13.0");
    write_headers("toolkit/include/cccl", 3000001);
    write_headers("newer", 3004003);
    write_headers("newest", 3005000);
    const Variable toolkit("SEGFOLD_TOOLKIT", folder_.file("toolkit"));
    const auto has_flag = [](const PeerToolkit& peers, const fs::path& headers) {
        const auto words = peers.command("sm_90");
        return std::ranges::find(words, "-I" + headers.string()) != words.end();
    };
    EXPECT_EQ(PeerToolkit().description(), "CCCL 3.0.1");
    EXPECT_TRUE(has_flag(PeerToolkit(), path("toolkit/include/cccl")));
    EXPECT_EQ(cccl_folder(), path("toolkit/include/cccl"));
    const Variable named("SEGFOLD_CCCL", folder_.file("newer"));
    EXPECT_EQ(PeerToolkit().description(), "CCCL 3.4.3");
    EXPECT_TRUE(has_flag(PeerToolkit(), fs::canonical(path("newer"))));
    EXPECT_EQ(cccl_folder(), fs::canonical(path("newer")));
    const PeerToolkit given(path("newest"));
    EXPECT_EQ(given.description(), "CCCL 3.5.0");
    EXPECT_TRUE(has_flag(given, path("newest")));
    EXPECT_EQ(given.nvcc(), path("toolkit/bin/nvcc"));
    EXPECT_EQ(given.reason(), "");
}

/// A toolkit that has nvcc alone, without headers, is enough where headers are named.
TEST_F(Cccl, NamedHeadersNeedNoneOfTheToolkit)
{
    write_toolkit("toolkit", "13.0");
    write_headers("newest", 3005000);
    const Variable toolkit("SEGFOLD_TOOLKIT", folder_.file("toolkit"));
    EXPECT_NE(PeerToolkit().nvcc(), path("toolkit/bin/nvcc"));
    EXPECT_EQ(PeerToolkit(path("newest")).nvcc(), path("toolkit/bin/nvcc"));
}

TEST_F(Cccl, AnOlderNvccIsRefused)
{
    write_toolkit("toolkit", "11.8");
    write_headers("newest", 3005000);
    const auto nvcc = path("toolkit/bin/nvcc");
    const Variable toolkit("SEGFOLD_TOOLKIT", folder_.file("toolkit"));
    EXPECT_EQ(
        refusal([&] { (void)PeerToolkit(path("newest")); }),
        "CCCL 3.5.0 in " + folder_.file("newest") + " needs CUDA 12 or later, and " + nvcc.string() +
            " is of CUDA 11.8; set SEGFOLD_TOOLKIT to a newer toolkit, or take headers of an older CCCL");
    write_toolkit("toolkit", "12.0");
    require_new_enough(nvcc, path("newest"));
    write_toolkit("toolkit", "11.8");
    write("newest/cuda/std/__cccl/compiler.h", "// says nothing of compilers\n");
    require_new_enough(nvcc, path("newest"));
}

TEST_F(Cccl, OverloadsAreLookedForInTheHeaders)
{
    write_toolkit("toolkit", "13.0");
    write_headers("headers", 3000001);
    const Variable toolkit("SEGFOLD_TOOLKIT", folder_.file("toolkit"));
    const PeerToolkit peers(path("headers"));
    EXPECT_EQ(peers.missing(peer("cub_fixed_size")),
              "cub::DeviceSegmentedReduce::Reduce of CCCL 3.0.1 has no overload with 'int segment_size,'");
    EXPECT_EQ(peers.missing(peer("cub_segmented_hint")),
              "CCCL 3.0.1 has no cub/device/dispatch/dispatch_segmented_reduce.cuh");
    write("headers/cub/device/device_segmented_reduce.cuh", "    int segment_size,\n");
    write("headers/cub/device/dispatch/dispatch_segmented_reduce.cuh", "");
    EXPECT_EQ(peers.missing(peer("cub_fixed_size")), "");
    EXPECT_EQ(peers.missing(peer("cub_segmented_hint")),
              "cub::detail::segmented_reduce::dispatch of CCCL 3.0.1 has no overload with 'size_t "
              "max_segment_size,'");
    write("headers/cub/device/dispatch/dispatch_segmented_reduce.cuh", "  size_t max_segment_size,\n");
    EXPECT_EQ(peers.missing(peer("cub_segmented_hint")), "");
}

/// ./segfold of a checkout of its own, with a program that prints $SEGFOLD_CCCL and a package index of one
/// wheel.
class Launcher : public Cccl {
protected:
    void SetUp() override
    {
        const fs::path source = SEGFOLD_SOURCE_DIR;
        fs::create_directories(path("root/.setup"));
        fs::copy_file(source / "segfold", path("root/segfold"));
        fs::copy_file(source / ".setup/common.sh", path("root/.setup/common.sh"));
        for (const auto* watched :
             {"dsl", "codegen", "kernels", "papers", "runtime", "CMakeLists.txt", "CMakePresets.json"})
            write(std::string("root/") + watched, "");
        write_program("root/build/launch/runtime/segfold", "#!/bin/sh\necho \"takes $SEGFOLD_CCCL\"\n");
        write("root/build/launch/.program-built", "");
        // Stands in for pip and zipfile.
        write_program("bin/python3", R"(#!/bin/bash
echo "$2 $3" >>"$CALLS"
case "$2 $3" in
    "pip download")
        [[ $INDEX == reached ]] || { echo "no route"; exit 1; }
        while [[ $1 != --dest ]]; do shift; done
        touch "$2/nvidia_cuda_cccl-13.3.whl"
        ;;
    "zipfile -e")
        mkdir -p "$5/$INSIDE/cub"
        touch "$5/$INSIDE/cub/version.cuh"
        ;;
esac
)");
    }

    [[nodiscard]] std::string launch(const std::string& settings) const
    {
        // What ./test was started with is not the launcher's.
        return run_process({"/bin/bash", "-c",
                            "unset ${!SEGFOLD_@}; PATH=" + folder_.file("bin") + ":$PATH CALLS=" +
                                folder_.file("calls") + " " + settings + " " + folder_.file("root/segfold")})
            .output;
    }

    [[nodiscard]] std::string headers() const { return folder_.file("root/.toolkit/cccl-newest"); }
};

constexpr const char* kReached = "INDEX=reached INSIDE=nvidia/cu13/include/cccl ";

TEST_F(Launcher, FetchesTheNewestOnceAndTakesItFromThenOn)
{
    EXPECT_EQ(launch(kReached), "takes \n");
    EXPECT_FALSE(fs::exists(path("calls")));
    EXPECT_EQ(launch(std::string(kReached) + "SEGFOLD_CCCL=newest"),
              "segfold: fetching the newest CCCL (headers, about 4 MB) into .toolkit/cccl-newest\ntakes " +
                  headers() + "\n");
    EXPECT_TRUE(fs::exists(headers() + "/cub/version.cuh"));
    EXPECT_FALSE(fs::exists(path("root/.toolkit.cccl")));
    const auto calls = read_text(folder_.file("calls"));
    EXPECT_EQ(calls, "pip --version\npip download\nzipfile -e\n");
    EXPECT_EQ(launch("SEGFOLD_CCCL=newest"), "takes " + headers() + "\n");
    EXPECT_EQ(launch(""), "takes " + headers() + "\n");
    EXPECT_EQ(launch("SEGFOLD_CCCL=toolkit"), "takes \n");
    EXPECT_EQ(launch("SEGFOLD_CCCL=/elsewhere"), "takes /elsewhere\n");
    EXPECT_EQ(read_text(folder_.file("calls")), calls);
}

TEST_F(Launcher, SaysThatTheIndexCannotBeReached)
{
    const auto expected =
        "segfold: fetching the newest CCCL (headers, about 4 MB) into .toolkit/cccl-newest\n"
        "segfold: the newest CCCL cannot be had from the package index (" +
        folder_.file("root/build/launch/cccl.log") + "); peers take the toolkit's own\ntakes \n";
    EXPECT_EQ(launch("INDEX=silent SEGFOLD_CCCL=newest"), expected);
    EXPECT_EQ(read_text(folder_.file("root/build/launch/cccl.log")), "no route\n");
    EXPECT_FALSE(fs::exists(headers()));
    EXPECT_FALSE(fs::exists(path("root/.toolkit.cccl")));
    EXPECT_EQ(launch("INDEX=reached INSIDE=elsewhere SEGFOLD_CCCL=newest"), expected);
    EXPECT_EQ(read_text(folder_.file("root/build/launch/cccl.log")),
              "the wheel has no cub/version.cuh where it is looked for: nvidia/cu*/include/cccl\n");
}

}  // namespace
}  // namespace segfold::bench::cccl_test
