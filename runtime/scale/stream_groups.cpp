// Reads a stream of groups: in one pass, or in several if outputs need what stands behind the elements.
#include "runtime/scale/stream_state.h"

namespace segfold {

void Stream::State::run_groups(const Share& share, GroupExchange* others,
                               const std::function<void(LoadedSlice&)>& take)
{
    auto& totals = *groups;
    const bool is_from_end = totals.scans_from_end();
    const auto read = [&](const std::function<void(LoadedSlice&)>& take_slice) {
        cursor->go_to(share.from);
        has_ended = false;
        fold_all(share.until, [&](LoadedSlice& loaded, Partial&&) {
            if (take_slice)
                take_slice(loaded);
            tell(loaded);
        });
    };
    const auto shared = [](GroupPartial&& partial) {
        return std::make_shared<const GroupPartial>(std::move(partial));
    };
    std::shared_ptr<const GroupPartial> lengths_before, lengths;
    // The keys of a scan from the end come last, in the order in which they first stand.
    const bool orders_keys = is_from_end && totals.joining()->groups.order == KeyOrder::first;
    const bool has_pass_before = others == nullptr && (!is_from_end || totals.reads_results());
    if ((totals.reads_positions() || orders_keys) && !has_pass_before) {
        totals.begin(GroupPass::lengths);
        read({});
        auto up_to = totals.take_sum();
        if (others != nullptr) {
            auto before = others->before(totals.joining_of_lengths(), up_to, false);
            GroupPartial sum(totals.joining_of_lengths());
            sum += before;
            sum += up_to;
            lengths_before = shared(std::move(before));
            up_to = is_from_end ? others->all(totals.joining_of_lengths(), sum) : std::move(sum);
        }
        lengths = shared(std::move(up_to));
    }
    if (op.outputs.empty()) {
        totals.begin(GroupPass::states);
        totals.set_positions(lengths_before);
        if (groups_before)
            totals.go_on_from(*std::exchange(groups_before, std::nullopt));
        read(take);
        if (others != nullptr) {
            auto before = others->before(totals.joining(), totals.sum(), false);
            before += totals.sum();
            totals.go_on_from(std::move(before));
        }
        return;
    }
    std::optional<GroupPartial> carried = std::exchange(groups_before, std::nullopt);
    if (totals.reads_results() || others != nullptr) {
        totals.begin(GroupPass::states);
        totals.set_positions(lengths_before);
        read({});
        auto up_to = totals.take_sum();
        if (others != nullptr && op.scan)
            carried = others->before(totals.joining(), up_to, is_from_end);
        if (others != nullptr && totals.reads_results()) {
            auto before = others->before(totals.joining(), up_to, false);
            before += up_to;
            up_to = others->all(totals.joining(), before);
        }
        if (totals.reads_results())
            totals.set_totals(shared(std::move(up_to)));
        if (totals.reads_results() && !lengths)
            lengths = totals.totals();
    }
    totals.begin(GroupPass::outputs);
    // The lengths of a scan go on with its states.
    totals.set_positions(is_from_end ? lengths : op.scan ? nullptr : lengths_before);
    if (orders_keys) {
        GroupPartial in_order(totals.joining());
        for (std::size_t group = 0; group < lengths->num_groups(); ++group)
            (void)in_order.add(lengths->mark(group));
        if (carried)
            in_order += *carried;
        carried = std::move(in_order);
    }
    if (carried)
        totals.go_on_from(*std::move(carried));
    read(take);
}

}  // namespace segfold
