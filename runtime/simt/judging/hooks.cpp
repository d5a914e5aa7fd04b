// The functions of the executor that compiled texts call.
#include <fmt/format.h>

#include <cstring>

#include "dsl/half.h"
#include "runtime/simt/execution/worker.h"
#include "runtime/simt/judging/accesses.h"
#include "runtime/simt/judging/findings.h"
#include "runtime/simt/judging/order.h"
#include "runtime/simt/shim/protocol.h"

namespace segfold::simt {
namespace {

/// Calls `action` with the worker. Catches all exceptions, because none may pass through stack frames of the
/// text.
template <class Action>
auto on_worker(Action&& action)
{
    Worker& worker = *current_worker;
    try {
        return action(worker);
    } catch (const Abandoned&) {
    } catch (...) {
        worker.keep_current_exception();
    }
    worker.leave();
}

std::uintptr_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

void read(const void* address, unsigned long bytes, const void* site)
{
    on_worker([&](Worker& worker) {
        check_access(worker, {number(address), bytes, site, true, false, false});
    });
}

void write(const void* address, unsigned long bytes, const void* site)
{
    on_worker([&](Worker& worker) {
        worker.made_progress();
        check_access(worker, {number(address), bytes, site, false, true, false});
    });
}

/// Lets other threads run first if this thread only waits for a flag. Then checks the access, right before it
/// happens.
Place poll_and_check(Worker& worker, const Access& access)
{
    check_bounds(worker, access);
    worker.poll(access.address, access.bytes, access.site);
    return check_access(worker, access);
}

void volatile_read(const void* address, unsigned long bytes, const void* site)
{
    on_worker([&](Worker& worker) {
        const Place flag = poll_and_check(worker, {number(address), bytes, site, true, false, true});
        if (flag.cell != nullptr)
            defer_flag(worker, flag);
    });
}

void volatile_write(const void* address, unsigned long bytes, const void* site)
{
    on_worker([&](Worker& worker) {
        worker.changed_flag();
        const Place flag = check_access(worker, {number(address), bytes, site, false, true, true});
        if (flag.cell != nullptr)
            publish(worker, flag);
    });
}

void check_alignment(Worker& worker, const void* address, unsigned long bytes, const void* site)
{
    if (number(address) % bytes != 0)
        worker.fail(
            Fault::misaligned, site,
            fmt::format("uses {} in an atomic function, whose address must be a multiple of {}",
                        memory_text(worker.launch(), worker.shared_base(), number(address), 0), bytes));
}

constexpr int kNonsense = 0xad;

/// Checks that one end of an asynchronous copy is aligned to the size of the copy.
void check_copied(const void* address, unsigned bytes, const void* site)
{
    on_worker([&](Worker& worker) {
        if (number(address) % bytes != 0)
            worker.fail(
                Fault::misaligned, site,
                fmt::format(
                    "copies {0} bytes asynchronously from or to {1}, whose address must be a multiple "
                    "of {0}",
                    bytes, memory_text(worker.launch(), worker.shared_base(), number(address), 0)));
    });
}

Place check_atomic(Worker& worker, const Access& access)
{
    if (worker.launch().module.checked())
        return poll_and_check(worker, access);
    worker.poll(access.address, access.bytes, access.site);
    return {};
}

void atomic_begin(const void* address, unsigned long bytes, const void* site)
{
    on_worker([&](Worker& worker) {
        check_alignment(worker, address, bytes, site);
        const Place flag = check_atomic(worker, {number(address), bytes, site, true, true, true});
        if (flag.cell != nullptr)
            publish(worker, flag);
        worker.set_atomic_flag(flag);
    });
}

void atomic_end(const void*, unsigned changed)
{
    on_worker([&](Worker& worker) {
        if (worker.atomic_flag().cell != nullptr)
            note_flag(worker, worker.atomic_flag());
        if (changed != 0)
            worker.changed_flag();
    });
}

void acquire_begin(const void* address, unsigned long bytes, const void* site)
{
    on_worker([&](Worker& worker) {
        check_alignment(worker, address, bytes, site);
        worker.set_atomic_flag(check_atomic(worker, {number(address), bytes, site, true, false, true}));
    });
}

void acquire_end(const void*)
{
    on_worker([&](Worker& worker) {
        if (worker.atomic_flag().cell != nullptr)
            acquire(worker, worker.atomic_flag());
    });
}

void release(const void* address, unsigned long bytes, const void* site)
{
    on_worker([&](Worker& worker) {
        check_alignment(worker, address, bytes, site);
        worker.changed_flag();
        if (!worker.launch().module.checked())
            return;
        const Place flag = check_access(worker, {number(address), bytes, site, false, true, true});
        if (flag.cell == nullptr)
            return;
        fence(worker, kSegfoldScopeDevice);
        publish(worker, flag);
    });
}

void fence_hook(unsigned scope)
{
    on_worker([&](Worker& worker) {
        if (worker.launch().shadow)
            fence(worker, scope);
    });
}

PendingCopies& copies_of(Worker& worker)
{
    Block& block = worker.block();
    if (block.copies.size() < block.threads.size())
        block.copies.resize(block.threads.size());
    return block.copies[worker.thread().index];
}

/// Starts an asynchronous copy. The target counts as written twice: now, and when the thread waits for the
/// copy. In between, the target holds nonsense, so that a read without a wait shows.
void copy_async(void* to, const void* from, unsigned bytes, const void* site)
{
    check_copied(to, bytes, site);
    check_copied(from, bytes, site);
    read(from, bytes, site);
    write(to, bytes, site);
    std::memset(to, kNonsense, bytes);
    on_worker([&](Worker& worker) {
        auto& pending = copies_of(worker);
        pending.copies.push_back({to, from, bytes, pending.group});
    });
}

void commit_copies()
{
    on_worker([&](Worker& worker) { ++copies_of(worker).group; });
}

void wait_for_copies(unsigned groups_left, const void* site)
{
    auto& pending = *on_worker([&](Worker& worker) { return &copies_of(worker); });
    // Copies without a commit belong to no group, so only a wait for all copies completes them.
    std::size_t done = 0;
    for (; done < pending.copies.size(); ++done) {
        const auto& copy = pending.copies[done];
        if (groups_left > 0 && copy.group + groups_left >= pending.group)
            break;
        write(copy.to, copy.bytes, site);
        std::memcpy(copy.to, copy.from, copy.bytes);
    }
    pending.copies.erase(pending.copies.begin(), pending.copies.begin() + static_cast<std::ptrdiff_t>(done));
}

unsigned barrier(unsigned kind, unsigned value, unsigned statement, const void* site)
{
    return on_worker([&](Worker& worker) { return worker.barrier({kind, statement}, value, site); });
}

unsigned long long meet(unsigned mask, unsigned kind, unsigned long long value, unsigned argument,
                        const void* site)
{
    return on_worker([&](Worker& worker) { return worker.meet(mask, kind, value, argument, site); });
}

void* in_block(const void* mine, unsigned rank, const void* site)
{
    return on_worker([&](Worker& worker) -> void* {
        const auto blocks = worker.cluster();
        const std::size_t offset = number(mine) - worker.shared_base();
        if (offset >= worker.launch().module.symbols().shared_bytes)
            worker.fail(Fault::out_of_bounds, site,
                        fmt::format("maps {}, which is no shared memory",
                                    memory_text(worker.launch(), worker.shared_base(), number(mine), 0)));
        if (rank >= blocks.size())
            worker.fail(
                Fault::out_of_bounds, site,
                fmt::format("maps shared memory of block {} of a cluster of {}", rank, blocks.size()));
        // The running block's shared memory is in the OS thread's copy; the memory of other blocks is in
        // their Block::shared_image.
        Block& other = blocks[rank];
        return &other == &worker.block() ? const_cast<void*>(mine) : other.shared_image.data() + offset;
    });
}

unsigned coordinate(unsigned which)
{
    Worker& worker = *current_worker;
    const Dimensions& shape = worker.launch().dimensions;
    const unsigned thread = worker.thread().index;
    switch (which) {
        case kSegfoldThread: return thread < shape.block_x ? thread : thread % shape.block_x;
        case kSegfoldThread + 1: return thread / shape.block_x % shape.block_y;
        case kSegfoldThread + 2: return thread / shape.block_x / shape.block_y;
        case kSegfoldBlockDimension: return shape.block_x;
        case kSegfoldBlockDimension + 1: return shape.block_y;
        case kSegfoldBlockDimension + 2: return shape.block_z;
        case kSegfoldGridDimension: return shape.grid_x;
        case kSegfoldGridDimension + 1: return shape.grid_y;
        case kSegfoldGridDimension + 2: return shape.grid_z;
        default: return worker.block().place[which - kSegfoldBlock];
    }
}

unsigned lane() { return current_worker->lane(); }

void sleep(const void* site)
{
    on_worker([&](Worker& worker) { worker.sleep(site); });
}

unsigned long long clock() { return current_worker->clock(); }

void trap(const void* site)
{
    on_worker([&](Worker& worker) { worker.fail(Fault::trap, site, "calls __trap()"); });
}

void undefined(const char* what, const void*, const void* site)
{
    on_worker([&](Worker& worker) {
        worker.fail(Fault::undefined_behaviour, site, fmt::format("undefined behaviour: {}", what));
    });
}

/// The undefined behaviour sanitizer's description of a type.
struct TypeDescriptor {
    unsigned short kind;
    unsigned short info;
    char name[1];  ///< in quotes; longer than declared
};

/// Returns "float4" for the descriptor's "'const struct float4'".
std::string type_name(const TypeDescriptor& type)
{
    std::string text = type.name;
    std::erase(text, '\'');
    for (const std::string word : {"const ", "struct "})
        if (const std::size_t place = text.find(word); place != std::string::npos)
            text.erase(place, word.size());
    return text;
}

/// The sanitizer's report of a bad index or pointer. It begins with the position in the source.
struct Complaint {
    const char* file;
    unsigned line;
    unsigned column;
    const TypeDescriptor* type;
    unsigned char log_alignment;  ///< set for a misaligned pointer only
};

void outside_array(const void* data, unsigned long index, const void* site)
{
    on_worker([&](Worker& worker) {
        worker.fail(Fault::out_of_bounds, site,
                    fmt::format("index {} is outside of an array of type {}", static_cast<long>(index),
                                type_name(*static_cast<const Complaint*>(data)->type)));
    });
}

void misaligned(const void* data, const void* address, const void* site)
{
    on_worker([&](Worker& worker) {
        const auto& complaint = *static_cast<const Complaint*>(data);
        worker.fail(Fault::misaligned, site,
                    fmt::format("uses {} as a {}, whose address must be a multiple of {}",
                                memory_text(worker.launch(), worker.shared_base(), number(address), 0),
                                type_name(*complaint.type), 1u << complaint.log_alignment));
    });
}

}  // namespace

const SegfoldHooks& executor_hooks()
{
    static constexpr SegfoldHooks kHooks = {
        .read = read,
        .write = write,
        .volatile_read = volatile_read,
        .volatile_write = volatile_write,
        .atomic_begin = atomic_begin,
        .atomic_end = atomic_end,
        .acquire_begin = acquire_begin,
        .acquire_end = acquire_end,
        .release = release,
        .fence = fence_hook,
        .barrier = barrier,
        .meet = meet,
        .copy_async = copy_async,
        .commit_copies = commit_copies,
        .wait_for_copies = wait_for_copies,
        .in_block = in_block,
        .coordinate = coordinate,
        .lane = lane,
        .sleep = sleep,
        .clock = clock,
        .trap = trap,
        .undefined = undefined,
        .outside_array = outside_array,
        .misaligned = misaligned,
        .f32_to_f16 = f32_to_f16,
        .f16_to_f32 = f16_to_f32,
        .f32_to_bf16 = f32_to_bf16,
        .bf16_to_f32 = bf16_to_f32,
    };
    return kHooks;
}

}  // namespace segfold::simt
