#pragma once
// The rules in the table of dsl/README.md, each an expression that is true.
#include <fstream>
#include <string>
#include <vector>

namespace segfold {

/// Reads the rules. The working folder of every test is the project's folder.
inline std::vector<std::string> readme_rules()
{
    std::ifstream file("dsl/README.md");
    std::vector<std::string> rules;
    bool in_table = false;
    for (std::string line; std::getline(file, line);) {
        in_table = line == "| rule | for example |" || (in_table && !line.empty());
        const auto first = line.rfind("| `");
        if (in_table && first != std::string::npos)
            rules.push_back(line.substr(first + 3, line.rfind('`') - first - 3));
    }
    return rules;
}

}  // namespace segfold
