#include <fmt/format.h>

#include "dsl/error.h"
#include "runtime/data/shape.h"
#include "runtime/session/scale/part_memory.h"
#include "runtime/session/scale/resident.h"

namespace segfold {
namespace {

/// Where the most elements lie that one plan folds: plans are fastest from the begin of a row on.
std::int64_t begin_of_most(const Slice& slice)
{
    auto begin = slice.inner.form == SegmentForm::ranges ? 0 : slice.inner_begin;
    auto most = slice.inner.num_segments > 0 ? slice.inner.num_elements : 0;
    for (const auto& piece : {slice.head, slice.tail})
        if (piece && piece->length() > most) {
            begin = piece->begin;
            most = piece->length();
        }
    return begin;
}

}  // namespace

struct DividedWorkload::State {
    explicit State(const Workload& whole) : workload(whole) {}

    /// An array of the host where the session's plans read it; `row` is the element that begins a row of
    /// memory.
    ArrayView lend(Session& session, const Array& array, std::int64_t row = 0)
    {
        const auto length = static_cast<std::int64_t>(array.length());
        if (session.backend().context() == nullptr)
            return {array.type(), array.data(), length};
        memory.emplace_back(session, std::span(array.data(), array.bytes()),
                            static_cast<std::size_t>(row) * size_bytes(array.type()));
        return {array.type(), memory.back().address(), length, memory.back().place()};
    }

    SegmentsView lend(Session& session, const Segments& segments)
    {
        switch (segments.form) {
            case SegmentForm::whole:
                return whole();
            case SegmentForm::uniform:
                return uniform(segments.uniform_length);
            case SegmentForm::offsets:
                return offsets(lend(session, segments.offsets));
            case SegmentForm::ranges:
                return ranges(lend(session, segments.begins), lend(session, segments.ends));
            default:
                throw InputError(fmt::format(
                    "segments of parts on devices are given by {}; give their offsets", name(segments.form)));
        }
    }

    void add(Session& session, Slice&& slice)
    {
        ResidentPart part;
        part.session = &session;
        slices.push_back(std::make_unique<Slice>(std::move(slice)));
        const auto& kept = *slices.back();
        const auto row = begin_of_most(kept);
        for (std::size_t i = 0; i < kept.arrays.size(); ++i)
            part.inputs.push_back(lend(session, kept.arrays[i], workload.op.parameters[i].table ? 0 : row));
        part.first_element = kept.first_element;
        part.first_inner = kept.first_inner;
        part.num_inner = kept.inner.num_segments;
        const bool is_ranges = kept.inner.form == SegmentForm::ranges;
        part.inner_begin = is_ranges ? 0 : kept.inner_begin;
        part.inner_elements = is_ranges ? kept.num_elements : kept.inner.num_elements;
        part.head = kept.head;
        part.tail = kept.tail;
        if (part.num_inner > 0) {
            part.inner = lend(session, kept.inner);
            part.longest = shape_of(kept.inner).longest;
            for (const auto& field : workload.op.results) {
                memory.emplace_back(session,
                                    static_cast<std::size_t>(part.num_inner) * size_bytes(field.type));
                results.push_back(memory.size() - 1);
                part.results.push_back(memory.back().view(field.type, part.num_inner));
            }
        }
        parts.push_back(std::move(part));
    }

    const Workload& workload;
    std::vector<PartMemory> memory;
    std::vector<std::size_t> results;  ///< which of the memory, part after part
    std::vector<std::unique_ptr<Slice>> slices;
    std::vector<ResidentPart> parts;
};

DividedWorkload::DividedWorkload(std::span<Session* const> sessions, const Workload& workload,
                                 std::int64_t first, std::int64_t num_slices)
    : state_(std::make_unique<State>(workload))
{
    check_workload(workload);
    const Slicer slicer(workload, num_slices);
    for (std::size_t i = 0; i < sessions.size(); ++i)
        state_->add(*sessions[i], slicer.slice(first + static_cast<std::int64_t>(i)));
}

DividedWorkload::~DividedWorkload() = default;

std::vector<ResidentPart> DividedWorkload::parts() const { return state_->parts; }

void DividedWorkload::gather(Results& all) const
{
    std::size_t next = 0;
    for (const auto& part : state_->parts)
        for (std::size_t f = 0; f < part.results.size(); ++f) {
            auto& into = all[f].array;
            const auto width = size_bytes(into.type());
            state_->memory[state_->results[next++]].copy_out(
                {into.data() + static_cast<std::size_t>(part.first_inner) * width,
                 static_cast<std::size_t>(part.num_inner) * width});
        }
}

}  // namespace segfold
