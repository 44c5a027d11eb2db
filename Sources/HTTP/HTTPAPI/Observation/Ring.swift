/// A bounded list. A full ring replaces its oldest entry with each new entry, without moving other entries.
struct Ring<Entry> {
    let bound: Int
    /// The entries, unordered.
    private(set) var entries: [Entry] = []
    /// Index of the oldest entry.
    private var oldest = 0

    init(bound: Int) {
        self.bound = bound
    }

    /// The entries, the oldest first.
    var inOrder: [Entry] { Array(entries[oldest...]) + entries[..<oldest] }

    /// Returns the dropped entry.
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

    /// Calls `change` with each entry, the oldest first, until it returns `true`.
    mutating func changeOldest(_ change: (inout Entry) -> Bool) {
        for index in entries.indices where change(&entries[(oldest + index) % entries.count]) { return }
    }

    /// Removes the entries that meet a condition.
    mutating func removeAll(where isGone: (Entry) -> Bool) {
        guard entries.contains(where: isGone) else { return }
        (entries, oldest) = (inOrder.filter { !isGone($0) }, 0)
    }
}
