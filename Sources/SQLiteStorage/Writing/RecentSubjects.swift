import AppleAccounts

/// The subjects that were written or looked for last, so that whoever comes again is not read again.
///
/// It knows what the connection it belongs to wrote, and must be emptied when another one, or another program, has
/// written. It is bounded by the number of subjects, each of which takes half a kilobyte: a page of the file, which the
/// database itself would keep, takes eight times that and has nobody else who is likely to come. Who was not asked for
/// in the last round makes room for the next.
struct RecentSubjects {
    private struct Place {
        var record: SubjectRecord
        var rowID: Int64
        var wasAskedFor: Bool
    }

    private let capacity: Int
    private var places: [Place] = []
    private var index: [SubjectKey: Int] = [:]
    private var hand = 0

    /// Some ten megabytes.
    static let capacity = 16384

    init(capacity: Int) {
        precondition(capacity > 0, "a cache without room")
        self.capacity = capacity
    }

    var count: Int { index.count }

    mutating func find(_ key: SubjectKey) -> (record: SubjectRecord, rowID: Int64)? {
        guard let position = index[key] else { return nil }
        places[position].wasAskedFor = true
        return (places[position].record, places[position].rowID)
    }

    mutating func keep(_ record: SubjectRecord, rowID: Int64) {
        if let position = index[record.key] {
            (places[position].record, places[position].rowID) = (record, rowID)
        } else if places.count < capacity {
            index[record.key] = places.count
            places.append(Place(record: record, rowID: rowID, wasAskedFor: false))
        } else {
            let position = makeRoom()
            index[record.key] = position
            places[position] = Place(record: record, rowID: rowID, wasAskedFor: false)
        }
    }

    mutating func removeAll() {
        self = RecentSubjects(capacity: capacity)
    }

    private mutating func makeRoom() -> Int {
        while places[hand].wasAskedFor {
            places[hand].wasAskedFor = false
            hand = (hand + 1) % capacity
        }
        defer { hand = (hand + 1) % capacity }
        index[places[hand].record.key] = nil
        return hand
    }
}
