// Programs that this one starts: what they say, how they end, and that they end with it.
#include "runtime/support/processes/process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "dsl/error.h"
#include "runtime/support/files/leftovers.h"
#include "runtime/support/processes/coprocess.h"
#include "runtime/support/processes/work_stopper.h"
#include "tests/common/files.h"
#include "tests/common/message_of.h"

namespace segfold::process_test {
namespace {

std::vector<std::string> shell(const std::string& script) { return {"/bin/sh", "-c", script}; }

TEST(Process, BothStreamsAreKeptAndItsEndIsTold)
{
    const auto result = run_process(shell("echo out; echo err >&2; read line || echo no input; exit 3"));
    EXPECT_EQ(result.output, "out\nerr\nno input\n");
    EXPECT_EQ(result.status, 3);
    EXPECT_EQ(run_process(shell("kill -TERM $$")).status, 128 + SIGTERM);
}

TEST(Process, OneThatCannotStartIsNamed)
{
    const std::string message = "/no/such/program cannot be started: No such file or directory";
    EXPECT_EQ(test::message_of<DeviceError>([] { (void)run_process({"/no/such/program"}); }), message);
    EXPECT_EQ(test::message_of<DeviceError>([] { Coprocess coprocess({"/no/such/program"}); }), message);
}

TEST(Process, AStopperEndsAProgramAndWhatItHasStarted)
{
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    const auto stopper = std::make_shared<WorkStopper>();
    std::thread stopping([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        stopper->stop();
    });
    const std::string message =
        "/bin/sh was ended, because the call that it ran for was interrupted; call again";
    const auto run = [] { (void)run_stoppable(shell("sleep 60 & wait")); };
    {
        const WorkStopper::Here here(stopper);
        EXPECT_EQ(test::message_of<DeviceError>(run), message);
        EXPECT_EQ(test::message_of<DeviceError>(run), message) << "no other begins";
    }
    stopping.join();
    EXPECT_LT(Clock::now() - begin, std::chrono::seconds(30));
    EXPECT_EQ(run_stoppable(shell("echo out; exit 3")).status, 3) << "without a stopper";
    const WorkStopper::Here other(std::make_shared<WorkStopper>());
    EXPECT_EQ(run_stoppable(shell("echo out; kill -TERM $$")).status, 128 + SIGTERM);
}

TEST(Coprocess, AnswersLineByLine)
{
    Coprocess coprocess(shell("echo err >&2; while read -r line; do echo \"<$line>\"; done; exit 4"));
    std::string line;
    ASSERT_TRUE(coprocess.send("one\ntwo\n"));
    ASSERT_EQ(coprocess.receive(line, 60), Coprocess::Wait::answered);
    EXPECT_EQ(line, "<one>");
    const std::string long_line(100000, 'x');
    ASSERT_TRUE(coprocess.send(long_line + "\n"));
    ASSERT_EQ(coprocess.receive(line, 60), Coprocess::Wait::answered);
    EXPECT_EQ(line, "<two>");
    ASSERT_EQ(coprocess.receive(line, 60), Coprocess::Wait::answered);
    EXPECT_EQ(line, "<" + long_line + ">");
    EXPECT_EQ(coprocess.receive(line, 0.01), Coprocess::Wait::late);
}

TEST(Coprocess, HowItEndedIsTold)
{
    std::string line;
    Coprocess ended(shell("echo last; exit 3"));
    EXPECT_EQ(ended.receive(line, 60), Coprocess::Wait::answered);
    EXPECT_EQ(ended.receive(line, 60), Coprocess::Wait::ended);
    EXPECT_EQ(ended.stop(), "ended with exit code 3");
    EXPECT_EQ(ended.stop(), "did not run");
    Coprocess crashed(shell("kill -SEGV $$"));
    EXPECT_EQ(crashed.receive(line, 60), Coprocess::Wait::ended);
    EXPECT_EQ(crashed.stop(), "was ended by signal 11 (Segmentation fault)");
    Coprocess hung({"/bin/sleep", "600"});
    EXPECT_EQ(hung.receive(line, 0.01), Coprocess::Wait::late);
    EXPECT_EQ(hung.stop(), "was ended by signal 9 (Killed)");
    Coprocess killed({"/bin/sleep", "600"});
    killed.kill();
    EXPECT_EQ(killed.receive(line, 60), Coprocess::Wait::ended);
    EXPECT_FALSE(killed.send("too late\n"));
}

/// The one that is started here hangs and heeds its socket no more.
TEST(Coprocess, EndsBySignalsThatEndThisProcess)
{
    const TemporaryFolder folder;
    const auto pid_file = folder.file("pid");
    const pid_t process = fork();
    if (process == 0) {
        remove_leftovers_at_signals();
        Coprocess coprocess(shell("echo $$ >" + pid_file + "; echo ready; exec sleep 600"));
        std::string line;
        if (coprocess.receive(line, 60) == Coprocess::Wait::answered)
            (void)raise(SIGTERM);
        _exit(1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(process, &status, 0), process);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    // Nobody may wait for a grandchild; init or a subreaper does, sooner or later.
    const auto stat = "/proc/" + std::to_string(std::stoi(read_text(pid_file))) + "/stat";
    const auto lives = [&] {
        std::ifstream file(stat);
        const std::string text((std::istreambuf_iterator<char>(file)), {});
        return !text.empty() && text.find(") Z ") == std::string::npos;
    };
    for (int i = 0; i < 10000 && lives(); ++i)
        usleep(1000);
    EXPECT_FALSE(lives());
}

}  // namespace
}  // namespace segfold::process_test
