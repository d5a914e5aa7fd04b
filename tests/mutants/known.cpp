#include "tests/mutants/known.h"

#include <algorithm>
#include <sstream>

#include "dsl/error.h"

namespace segfold::test {

bool KnownMutant::matches(const Mutant& mutant) const
{
    return file == mutant.file && rule == mutant.rule && before == mutant.before && after == mutant.after &&
           (number == 0 || number == mutant.number);
}

std::vector<KnownMutant> read_known(const std::string& path, const std::string& text)
{
    std::vector<KnownMutant> known;
    std::istringstream lines(text);
    std::string line;
    int number = 0;
    const auto refuse = [&](const std::string& what) {
        throw InputError(path + ":" + std::to_string(number) + ": " + what);
    };
    while (std::getline(lines, line)) {
        ++number;
        if (line.empty() || line[0] == '#')
            continue;
        const auto rest = line.size() > 2 ? line.substr(2) : std::string();
        if (line.starts_with("- ") || line.starts_with("+ ") || line.starts_with("= ")) {
            if (known.empty())
                refuse("an entry begins with 'equivalent' or 'survives'");
            auto& field = line[0] == '-'   ? known.back().before
                          : line[0] == '+' ? known.back().after
                                           : known.back().reason;
            if (!field.empty())
                refuse("a second line '" + line.substr(0, 1) + "' in one entry");
            field = rest;
            continue;
        }
        std::istringstream words(line);
        KnownMutant entry;
        entry.line = number;
        std::string verdict;
        words >> verdict >> entry.file >> entry.rule;
        if ((verdict != "equivalent" && verdict != "survives") || entry.rule.empty())
            refuse("'" + line + "' is not 'equivalent FILE RULE [NUMBER]' nor 'survives FILE RULE [NUMBER]'");
        words >> entry.number;
        entry.is_equivalent = verdict == "equivalent";
        known.push_back(entry);
    }
    for (const auto& entry : known)
        if (entry.before.empty() || entry.after.empty() || entry.reason.empty())
            throw InputError(path + ":" + std::to_string(entry.line) +
                             ": an entry has a line '-', a line '+' and a line '='");
    return known;
}

const KnownMutant* find_known(std::span<const KnownMutant> known, const Mutant& mutant)
{
    const auto place = std::ranges::find_if(known, [&](const auto& entry) { return entry.matches(mutant); });
    return place == known.end() ? nullptr : &*place;
}

}  // namespace segfold::test
