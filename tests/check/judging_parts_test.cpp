// check and regress over slices, devices and ranks: they hold as the project is, and say so where it is
// broken.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <mutex>

#include "dsl/error.h"
#include "runtime/check/check_operator.h"
#include "runtime/check/relations.h"
#include "runtime/scale/partial.h"
#include "runtime/scale/ranks/thread_ranks.h"
#include "tests/cli/cli_program.h"
#include "tests/common/stage_cases.h"

namespace segfold::test::judging_parts_test {
namespace {

using regress::Tiles;

/// Damages the partials that ranks exchange.
using Damage = std::function<void(std::vector<std::vector<std::byte>>& partials)>;

/// Ranks among whom partials are damaged on their way.
class DamagedRanks : public Communicator {
public:
    DamagedRanks(Communicator& ranks, Damage damage) : ranks_(ranks), damage_(std::move(damage)) {}
    [[nodiscard]] int rank() const override { return ranks_.rank(); }
    [[nodiscard]] int size() const override { return ranks_.size(); }
    [[nodiscard]] int local_rank() const override { return ranks_.local_rank(); }
    [[nodiscard]] std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine) override
    {
        auto all = ranks_.all_gather(mine);
        const auto have = [&](std::size_t bytes) {
            return std::ranges::all_of(all, [&](const auto& one) { return one.size() >= kHeading + bytes; });
        };
        // Partials come behind the numbers of segments.
        const bool is_numbers =
            std::ranges::all_of(all, [&](const auto& one) { return one.size() == kHeading + 8; });
        if (were_numbers_ && have(80))
            damage_(all);
        were_numbers_ = is_numbers;
        return all;
    }
    void send(int to, std::span<const std::byte> bytes) override { ranks_.send(to, bytes); }
    void receive(int from, std::span<std::byte> bytes) override { ranks_.receive(from, bytes); }
    [[noreturn]] void abort(int exit_code) override { std::_Exit(exit_code); }

    static constexpr std::size_t kHeading = 8;  // of AgreedRanks

private:
    Communicator& ranks_;
    Damage damage_;
    bool were_numbers_ = false;
};

void swap_first(std::vector<std::vector<std::byte>>& partials) { std::swap(partials.at(0), partials.at(1)); }
void swap_middle(std::vector<std::vector<std::byte>>& partials) { std::swap(partials.at(1), partials.at(2)); }
Damage drop_last(const Operator& op)
{
    return [nothing = Partial(std::make_shared<Joining>(op, JoinOrder::as_cut)).to_bytes()](auto& partials) {
        partials.back().resize(DamagedRanks::kHeading);
        partials.back().insert(partials.back().end(), nothing.begin(), nothing.end());
    };
}
void leave_alone(std::vector<std::vector<std::byte>>&) {}

/// One relation with one stage, as each of four ranks; that of rank 0, which must be that of all.
regress::RelationOutcome tried_by_ranks(const std::string& stage, const std::string& op_name,
                                        const Damage& damage)
{
    regress::RelationOutcome first;
    std::mutex mutex;
    std::vector<std::string> texts;
    run_thread_ranks(4, [&](Communicator& threads) {
        DamagedRanks damaged(threads, damage);
        AgreedRanks ranks(damaged);
        const auto op = standard_operator(op_name);
        const auto backend = make_backend("simt");
        const regress::Setting setting{op,
                                       {true, op.laws.commutative, op.laws.idempotent},
                                       Catalogue::standard(),
                                       *backend,
                                       1000,
                                       7,
                                       regress::uniform_arrays,
                                       {},
                                       &ranks};
        regress::Materials materials;
        auto outcome = regress::attempt(regress::relation("ranks"), setting,
                                        Catalogue::standard().stage(stage), Tiles::smallest, materials);
        const std::lock_guard lock(mutex);
        texts.push_back(outcome.breach ? outcome.breach->text : "");
        if (ranks.rank() == 0)
            first = std::move(outcome);
    });
    for (const auto& text : texts)
        EXPECT_EQ(text, texts.front());
    return first;
}

class JudgingParts : public testing::Test {
protected:
    void SetUp() override
    {
        if (!has_compiler())
            GTEST_SKIP() << "there is no C++ compiler for simt";
    }
    ProgramFolder folder_;
};

TEST_F(JudgingParts, RanksHoldTheRelation)
{
    for (const auto* op : {"trace_i32", "keep_first_i32", "sum_f32"})
        for (const auto* stage : {"warp_per_segment", "grid_reduce", "run_stream"})
            EXPECT_TRUE(tried_by_ranks(stage, op, leave_alone).held()) << stage << " " << op;
}

TEST_F(JudgingParts, PartialsThatAreSwappedBreakTheRelation)
{
    const auto wrong = tried_by_ranks("grid_reduce", "trace_i32", swap_middle);
    ASSERT_TRUE(wrong.breach);
    EXPECT_FALSE(wrong.breach->is_fault);
    EXPECT_NE(wrong.breach->text.find("by 4 ranks"), std::string::npos) << wrong.breach->text;
    EXPECT_NE(wrong.breach->text.find("the segment is wrong"), std::string::npos) << wrong.breach->text;
    EXPECT_EQ(wrong.breach->num_segments, 1);

    const auto out_of_order = tried_by_ranks("grid_reduce", "trace_i32", swap_first);
    ASSERT_TRUE(out_of_order.breach);
    EXPECT_TRUE(out_of_order.breach->is_fault);
    EXPECT_NE(out_of_order.breach->text.find("a part begins a segment while another one is open"),
              std::string::npos)
        << out_of_order.breach->text;
    // A sum does not depend on the order of one segment's parts, but parts say the numbers of their segments.
    const auto of_sum = tried_by_ranks("grid_reduce", "sum_i32", swap_middle);
    ASSERT_TRUE(of_sum.breach);
    EXPECT_NE(of_sum.breach->text.find("a part that begins with segment"), std::string::npos)
        << of_sum.breach->text;
}

TEST_F(JudgingParts, ALostPartialBreaksTheRelation)
{
    for (const auto* op : {"trace_i32", "sum_i32"}) {
        const auto lost = tried_by_ranks("warp_per_segment", op, drop_last(standard_operator(op)));
        ASSERT_TRUE(lost.breach) << op;
        EXPECT_NE(lost.breach->text.find("a segment is still open behind the last part"), std::string::npos)
            << lost.breach->text;
    }
}

/// What check prints of by four ranks, in words: the fault or the comparison of the first that failed.
std::string checked_by_ranks(const Damage& damage)
{
    std::string text;
    run_thread_ranks(4, [&](Communicator& threads) {
        DamagedRanks damaged(threads, damage);
        AgreedRanks ranks(damaged);
        SessionOptions options;
        options.backend = "simt";
        Session session(options);
        const auto op = standard_operator("trace_u64");
        regress::CheckRequest request;
        request.workload.num_elements = 2000;
        request.layouts = regress::standard_layouts(op, 2000);
        request.stages = {&Catalogue::standard().stage("grid_reduce"),
                          &Catalogue::standard().stage("warp_per_segment")};
        request.proof.seconds = 0;
        request.ranks = &ranks;
        const auto found = regress::check_operator(session, op, request);
        if (ranks.rank() != 0)
            return;
        EXPECT_EQ(request.spread_text(), "4 ranks");
        EXPECT_EQ(found.is_well(), !found.matrix.any_failed());
        EXPECT_EQ(found.is_well(), !found.smallest);
        if (found.smallest) {
            EXPECT_LT(found.smallest->outcome.num_elements, 20);
            EXPECT_TRUE(found.smallest->outcome.failed());
        }
        for (const auto& outcome : found.matrix.outcomes) {
            if (outcome.layout == "ranges" && outcome.stage == "warp_per_segment") {
                EXPECT_NE(outcome.unmet.value_or("").find("give offsets"), std::string::npos);
            }
            if (text.empty() && outcome.fault)
                text = *outcome.fault;
            for (const auto& comparison : outcome.comparisons)
                if (text.empty() && !comparison.agrees())
                    text = print(comparison);
        }
    });
    return text;
}

TEST_F(JudgingParts, CheckSaysWhatIsWrongOfRanks)
{
    EXPECT_EQ(checked_by_ranks(leave_alone), "");
    EXPECT_NE(checked_by_ranks(swap_middle).find("is wrong"), std::string::npos)
        << checked_by_ranks(swap_middle);
    EXPECT_NE(checked_by_ranks(drop_last(standard_operator("trace_u64")))
                  .find("a segment is still open behind the last part"),
              std::string::npos)
        << checked_by_ranks(drop_last(standard_operator("trace_u64")));
}

/// A device that gives the state of the piece before, from its second piece on.
class LateDevice : public Backend {
public:
    LateDevice() : simt_(make_backend("simt")) {}
    [[nodiscard]] std::string_view name() const override { return simt_->name(); }
    [[nodiscard]] std::string description() const override { return "late"; }
    [[nodiscard]] bool runs_stages() const override { return true; }
    [[nodiscard]] Target target() const override { return simt_->target(); }

private:
    [[nodiscard]] Results run_workload(const Workload& workload, const Emitted* text,
                                       const Circumstances& circumstances, RunTimes& times) override
    {
        auto results = simt_->run(workload, text, circumstances, &times);
        if (workload.segments.form != SegmentForm::whole)
            return results;
        for (std::size_t f = 0; f < results.size(); ++f) {
            auto& bytes = before_[workload.op.name + std::to_string(f)];
            const std::vector<std::byte> now(results[f].array.data(),
                                             results[f].array.data() + results[f].array.bytes());
            if (bytes.size() == now.size())
                std::memcpy(results[f].array.data(), bytes.data(), bytes.size());
            bytes = now;
        }
        return results;
    }

    std::unique_ptr<Backend> simt_;
    std::map<std::string, std::vector<std::byte>> before_;
};

TEST_F(JudgingParts, DevicesHoldTheRelationAndOneThatIsLateBreaksIt)
{
    const auto op = standard_operator("trace_i32");
    const auto tried = [&](Backend& other, const char* relation) {
        const auto backend = make_backend("simt");
        Backend* const others[] = {&other};
        const regress::Setting setting{
            op,    {true, false, false}, Catalogue::standard(), *backend, 1000, 7, regress::uniform_arrays,
            others};
        regress::Materials materials;
        return regress::attempt(regress::relation(relation), setting,
                                Catalogue::standard().stage("warp_per_segment"), Tiles::smallest, materials);
    };
    const auto good = make_backend("simt");
    for (const auto* relation : {"devices", "ranks"})
        EXPECT_TRUE(tried(*good, relation).held()) << relation;
    LateDevice late;
    const auto broken = tried(late, "devices");
    ASSERT_TRUE(broken.breach);
    EXPECT_NE(broken.breach->text.find("on 2 devices"), std::string::npos) << broken.breach->text;
}

TEST_F(JudgingParts, WithoutOthersThereIsNothingToTry)
{
    const auto op = standard_operator("trace_i32");
    const auto backend = make_backend("simt");
    const regress::Setting setting{op, {true, false, false},   Catalogue::standard(), *backend, 100,
                                   7,  regress::uniform_arrays};
    regress::Materials materials;
    for (const auto* relation : {"devices", "ranks"})
        EXPECT_NE(
            regress::attempt(regress::relation(relation), setting,
                             Catalogue::standard().stage("warp_per_segment"), Tiles::smallest, materials)
                .objection,
            "");
}

TEST_F(JudgingParts, TheProgramJudgesDevices)
{
    auto done =
        folder_.run({"check", "trace", "--type", "u64", "--backend", "simt", "--devices", "0,1,2", "--slices",
                     "7", "--elements", "3000", "--stage", "warp_per_segment", "--prove", "off"});
    EXPECT_EQ(done.exit_code, 0) << done.output << done.errors;
    EXPECT_NE(done.output.find("7 slices on 3 devices, joined in order"), std::string::npos) << done.output;
    done = folder_.run({"regress", "trace", "--type", "u64", "--backend", "simt", "--devices", "0,1",
                        "--elements", "700", "--stage", "warp_per_segment", "--relation", "devices"});
    EXPECT_EQ(done.exit_code, 0) << done.output << done.errors;
    EXPECT_NE(done.output.find("devices   1 ok"), std::string::npos) << done.output;
    done = folder_.run({"check", "sum", "--backend", "simt", "--devices", "0,0"});
    EXPECT_EQ(done.exit_code, 2);
    EXPECT_NE(done.errors.find("device 0 is given twice"), std::string::npos) << done.errors;
    done = folder_.run({"check", "softmax", "--backend", "simt", "--devices", "0,1", "--elements", "100"});
    EXPECT_EQ(done.exit_code, 2) << done.output;
}

/// Words of the error that each of three ranks has, where `work` fails on some.
std::vector<std::string> failures(const std::function<void(AgreedRanks& ranks)>& work)
{
    std::vector<std::string> words(3, "none");
    run_thread_ranks(3, [&](Communicator& threads) {
        AgreedRanks ranks(threads);
        auto& own = words[static_cast<std::size_t>(ranks.rank())];
        try {
            ranks.together([&] { work(ranks); });
        } catch (const InputError& error) {
            own = std::string("input: ") + error.what();
        } catch (const DeviceError& error) {
            own = std::string("device: ") + error.what();
        } catch (const InternalError& error) {
            own = error.what();
        }
    });
    return words;
}

TEST(AgreedRanks, AFailureOfOneIsThatOfAll)
{
    using Words = std::vector<std::string>;
    EXPECT_EQ(failures([](AgreedRanks& ranks) { (void)ranks.all_gather({}); }), Words(3, "none"));
    EXPECT_EQ(failures([](AgreedRanks& ranks) {
                  if (ranks.rank() == 1)
                      throw InputError("no such file");
                  (void)ranks.all_gather({});
                  (void)ranks.all_gather({});
              }),
              Words(3, "input: rank 1 of 3: no such file"));
    // Behind the last call, and on several.
    EXPECT_EQ(failures([](AgreedRanks& ranks) {
                  (void)ranks.all_gather({});
                  if (ranks.rank() != 1)
                      throw InternalError("of rank " + std::to_string(ranks.rank()));
              }),
              Words(3, "internal error: of rank 0"));
    // Outside of what others are in.
    int goes_on = 0;
    std::mutex mutex;
    EXPECT_EQ(failures([&](AgreedRanks& ranks) {
                  if (ranks.rank() == 2)
                      throw DeviceError("gone");
                  try {
                      ranks.together([&] { (void)ranks.all_gather({}); });
                  } catch (const Error&) {
                      const std::lock_guard lock(mutex);
                      ++goes_on;
                  }
              }),
              Words(3, "device: rank 2 of 3: gone"));
    EXPECT_EQ(goes_on, 0);
    // An inner failure is over where it was met.
    EXPECT_EQ(failures([&](AgreedRanks& ranks) {
                  EXPECT_THROW(ranks.together([&] {
                      if (ranks.rank() == 1)
                          throw InputError("inner");
                  }),
                               InputError);
                  EXPECT_EQ(ranks.all_gather({}).size(), 3U);
              }),
              Words(3, "none"));
}

TEST(ThreadRanks, OneThatLeavesEndsTheOthers)
{
    std::atomic<int> told = 0;
    EXPECT_THROW(run_thread_ranks(3,
                                  [&](Communicator& ranks) {
                                      if (ranks.rank() == 1)
                                          throw InputError("left");
                                      try {
                                          (void)ranks.all_gather({});
                                      } catch (const InternalError&) {
                                          ++told;
                                          throw;
                                      }
                                  }),
                 InputError);
    EXPECT_EQ(told, 2);
}

}  // namespace
}  // namespace segfold::test::judging_parts_test
