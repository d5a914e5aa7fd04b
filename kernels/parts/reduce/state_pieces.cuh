// A state in pieces of 32 bits. Each piece travels in a word of 64 bits, together with a mark that the piece
// has come. So a reader knows which pieces have come, and needs no fence.
constexpr int kStatePieces = (int(sizeof(State)) + 3) / 4;

union StatePieces {
    State state;
    unsigned at[kStatePieces];
};

__device__ __forceinline__ StatePieces pieces_of(const State& state)
{
    StatePieces pieces;
    pieces.at[kStatePieces - 1] = 0;  // the state may not fill the last piece
    pieces.state = state;
    return pieces;
}
