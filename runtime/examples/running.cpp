// Computes running results within segments, and within groups whose elements are in any order.
#include <segfold/segfold.h>
#include <iostream>
#include <vector>

int main()
try {
    const std::vector<int> amounts = {3, 1, 4, 1, 5, 9}, ends = {0, 3, 3, 6}, owners = {2, 0, 2, 1, 0, -1};
    segfold::Session session;
    const auto sum = segfold::standard_operator("sum_i32");
    const auto show = [](const segfold::Folded& found) {
        for (const int value : found.values<int>())
            std::cout << value << ' ';
        std::cout << '\n';
    };
    show(session.scan(sum, {amounts}, segfold::offsets(ends)));                       // includes the element
    show(session.scan(sum, {amounts}, segfold::offsets(ends), {.exclusive = true}));  // excludes the element
    show(session.scan(sum, {amounts}, segfold::offsets(ends), {.reverse = true}));    // begins at the end
    show(session.fold(sum, {amounts}, segfold::groups(owners, 4)));  // the total of each owner
    show(session.scan(sum, {amounts}, segfold::groups(owners, 4)));  // running totals of each owner
} catch (const segfold::Error& error) {
    std::cerr << error.what() << '\n';
    return error.exit_code();
}
