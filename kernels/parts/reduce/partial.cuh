// The fold of consecutive tiles. A head is an item that begins a segment.
struct Partial {
    State head;          // total of the items before the first head, if there is one
    State tail;          // total of the items from the last head on; of all items if there is no head
    bool ends;           // true if there is a head, so a segment that began earlier ends
    Index last_segment;  // the segment of the last item
    //% if uses_length
    Index first_head;  // place of the first head, if there is one
    Index last_head;
    //% end
};
