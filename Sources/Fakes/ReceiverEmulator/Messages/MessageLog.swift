/// The latest messages and their events. Drops the oldest messages to stay within its limit, and does no I/O.
struct MessageLog: Sendable {
    static let capacity = 200
    /// Number of events, and of users, that the log remembers to detect duplicates and wrong order.
    static let mostKnown = 2000

    private struct Key: Hashable {
        let receiver: EmulatedReceiver
        let text: String
    }

    private struct Arrivals {
        var count = 0
        var isTaken = false
    }

    private(set) var messages: [ReceivedMessage] = []
    private(set) var lastNumber = 0
    private var arrivals = BoundedTable<Key, Arrivals>(capacity: mostKnown)
    /// Latest `recordedAt` of each user's accepted events.
    private var latest = BoundedTable<Key, Int64>(capacity: mostKnown)

    /// Adds a message before the response is sent. Returns its number.
    mutating func add(_ message: ReceivedMessage) -> Int {
        lastNumber += 1
        var message = message
        message.number = lastNumber
        if let event = message.event {
            let key = Key(receiver: message.receiver, text: event.id)
            var known = arrivals[key] ?? Arrivals()
            known.count += 1
            arrivals[key] = known
            (message.arrival, message.isDuplicate) = (known.count, known.isTaken)
            // A repeated event proves nothing about the order in which events arrive.
            if !known.isTaken, let user = event.user, let recordedAt = event.recordedAt,
                let latest = latest[Key(receiver: message.receiver, text: user)]
            {
                message.isInOrder = latest <= recordedAt
            }
        }
        if messages.count >= Self.capacity { messages.removeFirst() }
        messages.append(message)
        return lastNumber
    }

    /// Records the response to a message.
    mutating func answer(_ number: Int, status: Int) {
        // The log may have dropped the message in the meantime.
        guard let index = messages.lastIndex(where: { $0.number == number }) else { return }
        messages[index].status = status
        let message = messages[index]
        guard message.isTaken, let event = message.event else { return }
        arrivals[Key(receiver: message.receiver, text: event.id)]?.isTaken = true
        guard let user = event.user, let recordedAt = event.recordedAt else { return }
        let key = Key(receiver: message.receiver, text: user)
        latest[key] = max(latest[key] ?? recordedAt, recordedAt)
    }

    /// Removes the messages. The log still recognizes events that have already arrived.
    mutating func clear() { messages = [] }
}

/// A dictionary that drops its oldest keys.
struct BoundedTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let capacity: Int
    private var values: [Key: Value] = [:]
    /// Keys in arrival order, as a ring buffer.
    private var keys: [Key] = []
    private var oldest = 0

    init(capacity: Int) { self.capacity = capacity }

    var count: Int { values.count }

    subscript(key: Key) -> Value? {
        get { values[key] }
        set {
            guard let newValue else {
                preconditionFailure("a value is replaced or dropped, and never removed")
            }
            if values.updateValue(newValue, forKey: key) != nil { return }
            if keys.count < capacity {
                keys.append(key)
            } else {
                values[keys[oldest]] = nil
                keys[oldest] = key
                oldest = (oldest + 1) % capacity
            }
        }
    }
}
