#include "runtime/laws/prove/questioner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "dsl/error.h"

namespace segfold::prove {

Questioner::Questioner(Solver& solver, double seconds, std::filesystem::path folder, std::string prefix)
    : solver_(solver), seconds_(seconds), folder_(std::move(folder)), prefix_(std::move(prefix))
{
    std::error_code failure;
    if (!folder_.empty() && !std::filesystem::is_directory(folder_, failure)) {
        std::filesystem::create_directories(folder_, failure);
        if (failure)
            throw InputError(fmt::format("{}: the folder for questions cannot be made: {}", folder_.string(),
                                         failure.message()));
    }
}

double Questioner::seconds_left() const
{
    const double since = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    return std::min(seconds_ - used_, kMostPatience * seconds_ - since);
}

void Questioner::keep(const std::string& name, const std::string& question) const
{
    if (folder_.empty())
        return;
    const auto path = folder_ / fmt::format("{}.{}.smt2", prefix_, name);
    std::ofstream file(path);
    file << question;
    file.close();
    if (!file)
        throw InputError(fmt::format("{}: cannot be written: {}", path.string(), std::strerror(errno)));
}

Answer Questioner::ask(const std::string& name, const std::string& question, double most_seconds,
                       bool tells_core)
{
    keep(name, (tells_core ? "(set-option :produce-unsat-cores true)\n" : "") + question);
    auto answer = solver_.ask(question, std::min(most_seconds, seconds_left()), tells_core);
    used_ += answer.seconds;
    return answer;
}

bool Questioner::begin(const std::string& name, const std::string& declarations, double most_seconds)
{
    keep(name, declarations);
    const auto answer = solver_.begin(declarations, std::min(most_seconds, seconds_left()));
    used_ += answer.seconds;
    // Declarations without assertions can always be satisfied. Any answer but `sat` is an error or a timeout.
    return answer.kind == Answer::Kind::sat;
}

Answer Questioner::go_on(const std::string& question, double most_seconds)
{
    auto answer = solver_.go_on(question, std::min(most_seconds, seconds_left()));
    used_ += answer.seconds;
    return answer;
}

}  // namespace segfold::prove
