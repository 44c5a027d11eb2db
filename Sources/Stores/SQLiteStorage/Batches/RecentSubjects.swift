import AppleAccounts

/// The subjects that were written or looked up last, so that a user who signs in again is not read again.
///
/// It caches the writes of its connection, and must be emptied after a write by another connection or another
/// program. It is bounded by the number of subjects, each of which takes half a kilobyte: a page of the file,
/// which the database itself would keep, takes eight times as much and contains no other subject that is
/// likely to be needed. A subject that was not used in the last round is replaced first.
struct RecentSubjects {
    private struct Entry {
        var record: SubjectRecord
        var place: SubjectPlace
        var wasAskedFor: Bool
    }

    private let capacity: Int
    private var entries: [Entry] = []
    private var index: [SubjectKey: Int] = [:]
    private var hand = 0

    /// Number of subjects: some ten megabytes.
    static let capacity = 16384

    init(capacity: Int) {
        precondition(capacity > 0, "the capacity must be positive")
        self.capacity = capacity
    }

    var count: Int { index.count }

    mutating func find(_ key: SubjectKey) -> (record: SubjectRecord, place: SubjectPlace)? {
        guard let position = index[key] else { return nil }
        entries[position].wasAskedFor = true
        return (entries[position].record, entries[position].place)
    }

    mutating func keep(_ record: SubjectRecord, at place: SubjectPlace) {
        if let position = index[record.key] {
            (entries[position].record, entries[position].place) = (record, place)
        } else if entries.count < capacity {
            index[record.key] = entries.count
            entries.append(Entry(record: record, place: place, wasAskedFor: false))
        } else {
            let position = makeRoom()
            index[record.key] = position
            entries[position] = Entry(record: record, place: place, wasAskedFor: false)
        }
    }

    mutating func removeAll() {
        self = RecentSubjects(capacity: capacity)
    }

    private mutating func makeRoom() -> Int {
        while entries[hand].wasAskedFor {
            entries[hand].wasAskedFor = false
            hand = (hand + 1) % capacity
        }
        defer { hand = (hand + 1) % capacity }
        index[entries[hand].record.key] = nil
        return hand
    }
}
