#pragma once
// The text of messages: the thread, the line, the memory, and how to replay the launch.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/simt/execution/execution.h"

namespace segfold::simt {

/// Returns the name of a barrier function: "__syncthreads()", "__syncthreads_or()", ...
std::string barrier_name(unsigned kind);
/// Returns the call of a warp-wide function: "__shfl_down_sync() with mask 0x0000ffff".
std::string call_text(unsigned kind, std::uint32_t mask);
/// Returns a mask as text: "0x0000ffff".
std::string hexadecimal(std::uint32_t mask);
/// Returns a number with its noun: "1 block", "4 blocks".
std::string counted(std::uint64_t count, const std::string& noun);
/// Names the lanes of a mask: "lane 7", "lanes 0-15, 31".
std::string lanes_text(std::uint32_t lanes);
/// Names threads by sorted numbers: "thread 7", "threads 0-31, 40".
std::string threads_text(std::span<const unsigned> threads);

/// Names a block: "kernel reduce, block 3"; with all coordinates if the grid has more than one dimension.
std::string block_text(const Launch& launch, const Block& block);
/// Names a block by its number: "block 3". The block itself may have ended.
std::string block_number_text(const Launch& launch, std::uint32_t number);
/// Names a thread: "thread 17"; with all coordinates if the block has more than one dimension.
std::string thread_text(const Launch& launch, unsigned thread);
/// Returns the settings that replay the launch: schedule, block order, seed, resident blocks and OS threads.
std::string replay_text(const Launch& launch);

/// Lines of the text: first the line of an instruction, then the lines of the known calls that led to it.
using CallLines = std::vector<int>;
/// Returns the lines of the call that returns to `site`; empty if they are unknown.
CallLines lines_of(const Launch& launch, const void* site);
std::vector<CallLines> lines_of(const Launch& launch, std::span<const void* const> sites);
/// Returns lines_of() for a call of the running fiber, followed by the lines of all enclosing calls.
CallLines lines_with_callers(const Launch& launch, const void* site);
/// Returns `before` followed by the line, or an empty text if the line is unknown.
///
/// A text that was not emitted gives "line 57". An emitted text gives "line 57 of the emitted text
/// (kernels/stages/tile_scan.cu:12)", or, for a line of a called function, "line 31 of the emitted text
/// (called in kernels/stages/tile_scan.cu:12)".
std::string line_text(const Launch& launch, const CallLines& lines, const char* before = ", ");

/// Names a place in memory: "element 10 of 'offsets'", "byte 41 of 'offsets'", "element 3 of shared 'partials
/// of reduce'".
std::string memory_text(const Launch& launch, std::uintptr_t shared_base, std::uintptr_t address,
                        std::size_t bytes);
/// Describes an address that lies in no buffer: "4 bytes past the end of 'offsets' (40 bytes)".
std::string outside_text(std::uintptr_t address, std::size_t bytes);

}  // namespace segfold::simt
