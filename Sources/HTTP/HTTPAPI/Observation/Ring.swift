/// A list with a bound. A full ring drops its oldest entry for each new one, without moving the others.
struct Ring<Entry> {
    let bound: Int
    /// In no order.
    private(set) var entries: [Entry] = []
    /// Index of the oldest entry.
    private var oldest = 0

    init(bound: Int) {
        self.bound = bound
    }

    /// The entries, the oldest first.
    var inOrder: [Entry] { Array(entries[oldest...]) + entries[..<oldest] }

    /// Returns the entry that had to go.
    @discardableResult
    mutating func append(_ entry: Entry) -> Entry? {
        guard entries.count == bound else {
            // Without a gap the oldest entry is the first one.
            entries.append(entry)
            return nil
        }
        let gone = entries[oldest]
        entries[oldest] = entry
        oldest = (oldest + 1) % bound
        return gone
    }

    /// Offers the entries for a change, the oldest first, until `change` returns true.
    mutating func changeOldest(_ change: (inout Entry) -> Bool) {
        for index in entries.indices where change(&entries[(oldest + index) % entries.count]) { return }
    }

    /// Removes the entries for which a condition holds.
    mutating func removeAll(where isGone: (Entry) -> Bool) {
        guard entries.contains(where: isGone) else { return }
        (entries, oldest) = (inOrder.filter { !isGone($0) }, 0)
    }
}
