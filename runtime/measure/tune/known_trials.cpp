#include "runtime/measure/tune/known_trials.h"

#include <map>

namespace segfold::tune {

std::vector<Trial> known_trials(const RecordStore& store, const Question& question, const SearchSpace& space)
{
    const auto wanted = class_of(question.problem);
    const auto op = operator_hash(question.problem.op);
    std::map<std::string, std::string> hashes;
    std::map<std::size_t, const TuningRecord*> rows;
    for (const auto& record : store.rows()) {
        if (record.device != question.device || record.op_hash != op || record.problem != wanted ||
            !is_same(record.shape, question.shape))
            continue;
        const auto place = space.find(record.point);
        if (!place)
            continue;
        auto [hash, is_new] = hashes.try_emplace(record.point.stage);
        if (is_new)
            hash->second = stage_hash(question.catalogue.stage(record.point.stage), question.catalogue);
        if (hash->second != record.stage_hash)
            continue;
        auto& row = rows[*place];
        if (row == nullptr || record.phase >= row->phase)
            row = &record;
    }
    std::vector<Trial> trials;
    for (const auto& [place, row] : rows)
        trials.push_back({place, row->measurement});
    return trials;
}

}  // namespace segfold::tune
