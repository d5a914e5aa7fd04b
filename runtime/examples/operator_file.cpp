// Reads an operator from a text file at run time, and folds with a scalar parameter.
#include <segfold/segfold.h>
#include <iostream>
#include <string>
#include <vector>

int main(int count, char** arguments)
try {
    const std::string path = count > 1 ? arguments[1] : "modular.seg";
    const auto product = segfold::read_operator(path);  // error messages name the path, line and column
    const std::vector<unsigned> values = {3, 1, 4, 1, 5, 9, 2, 6, 5}, modulus = {7};
    segfold::Session session;
    const auto folded = session.fold(product, {values, modulus}, segfold::uniform(3));
    for (const unsigned rest : folded.values<unsigned>())
        std::cout << rest << ' ';
    std::cout << '\n';

    const std::string text =
        "operator least(x: T) -> T { state value: T  lift x  combine(a, b) min(a, b)  laws commutative }";
    const auto least = segfold::parse_operator("least.seg", text, segfold::Type::u32);
    const auto found = session.fold(least, {values}, segfold::uniform(3));
    for (const unsigned value : found.values<unsigned>())
        std::cout << value << ' ';
    std::cout << '\n';
} catch (const segfold::Error& error) {
    std::cerr << error.what() << '\n';
    return error.exit_code();
}
