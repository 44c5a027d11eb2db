/// The latest messages, and what is known about their events. Pure, and bounded: the oldest are dropped.
struct MessageLog: Sendable {
    static let capacity = 200
    /// Number of events, and of users, that repetitions and disorder are recognized among.
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
    /// The latest `recordedAt` of each user's taken events.
    private var latest = BoundedTable<Key, Int64>(capacity: mostKnown)

    /// Adds a message before it is answered. Returns its number.
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
            // A repetition says nothing about the order.
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

    /// Notes the answer to a message.
    mutating func answer(_ number: Int, status: Int) {
        // Dropped meanwhile.
        guard let index = messages.lastIndex(where: { $0.number == number }) else { return }
        messages[index].status = status
        let message = messages[index]
        guard message.isTaken, let event = message.event else { return }
        arrivals[Key(receiver: message.receiver, text: event.id)]?.isTaken = true
        guard let user = event.user, let recordedAt = event.recordedAt else { return }
        let key = Key(receiver: message.receiver, text: user)
        latest[key] = max(latest[key] ?? recordedAt, recordedAt)
    }

    /// Forgets the messages. Events that have arrived are still recognized.
    mutating func clear() { messages = [] }
}

/// A dictionary that drops its oldest keys. Pure.
struct BoundedTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let capacity: Int
    private var values: [Key: Value] = [:]
    /// The keys in the order of their arrival, as a ring.
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
