#pragma once
// What each stage is run on to find mutants: texts, shapes, schedules; cheapest first.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/common/stage_cases.h"

namespace segfold::test {

/// How a workload is run.
struct Round {
    std::uint64_t seed = 1;
    int num_multiprocessors = 1;
    int num_launches = 1;      ///< the later ones meet the scratch memory that the first has left
    int shifted_elements = 0;  ///< by which columns begin behind the alignment of vectors
    int resident_blocks = 4;   ///< that the executor has in flight
    bool overtaking = false;   ///< by simt::Schedule::overtaking instead of the seed's schedule
};

/// One text of a stage and what it folds.
struct MutantCase {
    std::string name;  ///< "tile_scan of trace_u64 over offsets, few"
    int level = 0;     ///< 0: finds most; 1: every text once; 2: every shape, other configurations
    std::string stage;
    Problem problem;
    Configuration configuration;
    Numbers numbers = Numbers::constant;
    std::function<std::vector<SegmentCase>()> shapes;
    std::vector<Round> rounds;
    bool checked = true;                     ///< whether accesses are checked; else several times as fast
    std::function<Segments()> earlier = {};  ///< of all launches but the last, if not those of the shape
};

/// All cases of a stage, in the order in which they are tried.
std::vector<MutantCase> cases_of(const Stage& stage);

/// The case's operator on generated columns over `segments`.
Workload workload_of(const MutantCase& c, Segments segments);

}  // namespace segfold::test
