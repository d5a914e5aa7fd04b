// A state in pieces of 32 bits. Each piece travels in a word of 64 bits, beside something that says that it
// has come. So whoever reads the words knows which pieces are there, and needs no fence.
constexpr int kStatePieces = (int(sizeof(State)) + 3) / 4;

union StatePieces {
    State state;
    unsigned at[kStatePieces];
};

__device__ __forceinline__ StatePieces pieces_of(const State& state)
{
    StatePieces pieces;
    pieces.at[kStatePieces - 1] = 0;  // what the state does not fill
    pieces.state = state;
    return pieces;
}
