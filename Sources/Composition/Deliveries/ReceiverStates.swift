package import AppleAccounts
import EventDelivery

/// The states of stored and configured receivers, for `siwa deliveries` and `siwa doctor`.
package struct ReceiverStates {
    static let check = "receivers"

    package let configured: [ReceiverName]
    let stored: [ClaimedReceiver]
    /// The feed's last sequence number.
    let lastSequence: Int64

    package init(configured: [ReceiverName], stored: [ClaimedReceiver], lastSequence: Int64) {
        (self.configured, self.stored, self.lastSequence) = (configured, stored, lastSequence)
    }

    /// The states as text, one line per receiver.
    package var lines: [String] {
        let names = Set(configured + stored.map(\.record.name)).sorted()
        guard !names.isEmpty else {
            return [
                "There is no receiver: the configuration has no webhooks, no events of clients and no client of "
                    + "Google."
            ]
        }
        return names.map { name in "\(name): \(words(of: name))" }
    }

    /// Returns a receiver's state as text.
    package func words(of name: ReceiverName) -> String {
        guard let receiver = stored.first(where: { $0.record.name == name }) else {
            return "new; it begins at the end of the feed when the service starts"
        }
        var words: [String] = []
        if !configured.contains(name) { words.append("not configured") }
        if let paused = receiver.record.pausedAt { words.append("paused since \(paused.rfc3339)") }
        let waiting = receiver.waiting(lastSequence: lastSequence)
        words.append(
            waiting == 0 ? "up to date" : "up to \(waiting) \(waiting == 1 ? "event waits" : "events wait")")
        let refused = receiver.retries.filter { $0.attempts > 0 }
        if let oldest = refused.map(\.waitingSince).min() {
            let attempts = refused.reduce(0) { $0 + $1.attempts }
            words.append(
                "\(attempts) \(attempts == 1 ? "attempt" : "attempts") failed since \(oldest.rfc3339)")
        }
        return words.joined(separator: "; ")
    }

    /// The findings of this `siwa doctor` check.
    package var findings: [Finding] {
        configured.map { name in
            let text = "\(name): \(words(of: name))"
            guard let receiver = stored.first(where: { $0.record.name == name }) else {
                return .note(Self.check, text)
            }
            if receiver.record.pausedAt != nil {
                return .wrong(
                    Self.check, text,
                    advice: "It did not take an event for seven days. Correct the receiver, then run "
                        + "siwa deliveries resume \(name).")
            }
            guard receiver.retries.contains(where: { $0.attempts > 0 }) else {
                return .good(Self.check, text)
            }
            return .note(
                Self.check, text,
                advice:
                    "The log has the reason: an event was not delivered. A receiver that polls has not "
                    + "acknowledged what it got. After seven days the receiver is paused.")
        }
    }
}
