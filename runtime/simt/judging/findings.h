#pragma once
// The text of messages: which thread, where, which memory, how to replay.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/simt/execution/execution.h"

namespace segfold::simt {

/// "__syncthreads()", "__syncthreads_or()", ...
std::string barrier_name(unsigned kind);
/// "__shfl_down_sync() with mask 0x0000ffff".
std::string call_text(unsigned kind, std::uint32_t mask);
/// "0x0000ffff".
std::string hexadecimal(std::uint32_t mask);
/// "1 block", "4 blocks".
std::string counted(std::uint64_t count, const std::string& noun);
/// "lane 7", "lanes 0-15, 31".
std::string lanes_text(std::uint32_t lanes);
/// "thread 7", "threads 0-31, 40"; the numbers are sorted.
std::string threads_text(std::span<const unsigned> threads);

/// "kernel reduce, block 3", with all coordinates where the grid has more than one dimension.
std::string block_text(const Launch& launch, const Block& block);
/// "block 3" of a block that may be over.
std::string block_number_text(const Launch& launch, std::uint32_t number);
/// "thread 17", with all coordinates where the block has more than one dimension.
std::string thread_text(const Launch& launch, unsigned thread);
/// How to see the fault again: schedule, block order, seed, residency.
std::string replay_text(const Launch& launch);

/// Lines of the text: that of an instruction, then those of the calls that led there, as far as they are
/// known.
using CallLines = std::vector<int>;
/// Of the call that returns to `site`; empty: not known.
CallLines lines_of(const Launch& launch, const void* site);
std::vector<CallLines> lines_of(const Launch& launch, std::span<const void* const> sites);
/// The same, where the call is the running fiber's: with all calls that it is within.
CallLines lines_with_callers(const Launch& launch, const void* site);
/// "line 57", of an emitted text "line 57 of the emitted text (kernels/stages/tile_scan.cu:12)"; of what is
/// called there "line 31 of the emitted text (called in kernels/stages/tile_scan.cu:12)". Behind `before`;
/// nothing when the line is not known.
std::string line_text(const Launch& launch, const CallLines& lines, const char* before = ", ");

/// "element 10 of 'offsets'", "byte 41 of 'offsets'", "element 3 of shared 'partials of reduce'".
std::string memory_text(const Launch& launch, std::uintptr_t shared_base, std::uintptr_t address,
                        std::size_t bytes);
/// "4 bytes past the end of 'offsets' (40 bytes)", for an address that is in no buffer.
std::string outside_text(std::uintptr_t address, std::size_t bytes);

}  // namespace segfold::simt
