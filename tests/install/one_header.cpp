// What the results of the front door's calls are asked needs no other header than the one that is included.
#include <segfold/segfold.h>

#include <iostream>
#include <vector>

int main()
{
    segfold::Session session;
    const auto op = segfold::standard_operator("sum_i32");
    const segfold::OperatorLaws laws = session.laws(op);
    const std::vector<int> values = {3, 1, 4};
    const auto source = segfold::StreamArray(values).open();
    segfold::Array room(segfold::Type::i32, 3);
    std::cout << laws.is_associative() << ' ' << session.prove(op, 0).findings.size() << ' '
              << source->length().value_or(-1) << ' ' << source->read(0, room) << '\n';
}
