/// A ring buffer. When it is full, each new entry replaces the oldest entry without moving other entries.
struct Ring<Entry> {
    let bound: Int
    /// The entries in storage order.
    private(set) var entries: [Entry] = []
    /// Index of the oldest entry.
    private var oldest = 0

    init(bound: Int) {
        self.bound = bound
    }

    /// The entries in chronological order.
    var inOrder: [Entry] { Array(entries[oldest...]) + entries[..<oldest] }

    /// Appends an entry. Returns the replaced entry, or `nil` if the ring was not full.
    @discardableResult
    mutating func append(_ entry: Entry) -> Entry? {
        guard entries.count == bound else {
            // In a ring that is not full, the oldest entry has index 0.
            entries.append(entry)
            return nil
        }
        let gone = entries[oldest]
        entries[oldest] = entry
        oldest = (oldest + 1) % bound
        return gone
    }

    /// Calls `change` with each entry in chronological order, until `change` returns `true`.
    mutating func changeOldest(_ change: (inout Entry) -> Bool) {
        for index in entries.indices where change(&entries[(oldest + index) % entries.count]) { return }
    }

    /// Removes all entries that meet the condition.
    mutating func removeAll(where isGone: (Entry) -> Bool) {
        guard entries.contains(where: isGone) else { return }
        (entries, oldest) = (inOrder.filter { !isGone($0) }, 0)
    }
}
