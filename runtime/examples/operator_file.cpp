// An operator that is a text, read from a file when the program runs, and a scalar.
#include <segfold/segfold.h>
#include <iostream>
#include <string>
#include <vector>

int main(int count, char** arguments)
try {
    const std::string path = count > 1 ? arguments[1] : "modular.seg";
    const auto product = segfold::read_operator(path);  // messages name the path, line and column
    const std::vector<unsigned> values = {3, 1, 4, 1, 5, 9, 2, 6, 5}, modulus = {7};
    segfold::Session session;
    const auto folded = session.fold(product, {values, modulus}, segfold::uniform(3));
    for (const unsigned rest : folded.values<unsigned>())
        std::cout << rest << ' ';
    std::cout << '\n';
} catch (const segfold::Error& error) {
    std::cerr << error.what() << '\n';
    return error.exit_code();
}
