import Synchronization

/// Notifies open pages about changes. A page sends the number of its last change, and waits for the next.
public final class LiveUpdates: Sendable {
    /// Maximum number of waiting pages. Any further page gets an immediate response.
    static let mostWaiting = 64
    static let longestWait = Duration.seconds(20)
    /// Milliseconds before a browser polls again, so that it loads a page at most about once a second.
    static let pause = 1_000
    /// Milliseconds before a page polls again if it could not wait because too many pages were waiting.
    static let longPause = 20_000

    private struct State {
        var number: UInt64 = 1
        var nextWaiter = 0
        var waiting: [Int: CheckedContinuation<Void, Never>?] = [:]
    }

    private let state = Mutex(State())

    public init() {}

    /// Number of the latest change.
    var number: UInt64 { state.withLock { $0.number } }

    var waiterCount: Int { state.withLock { $0.waiting.count } }

    /// Notifies waiting pages about a change. Any thread may call it, and it costs little if no page waits.
    public func changed() {
        let released = state.withLock { state in
            state.number += 1
            defer { state.waiting.removeAll() }
            return Array(state.waiting.values)
        }
        for continuation in released { continuation?.resume() }
    }

    enum Answer: Equatable {
        case changed(UInt64)
        case unchanged
        case busy
    }

    /// Waits for a change later than `known`, until `longest` has passed or the task is cancelled.
    func wait(after known: UInt64, atMost longest: Duration = longestWait) async -> Answer {
        let place = state.withLock { state -> (id: Int?, answer: Answer?) in
            // A different number from another process is also treated as a change.
            if state.number != known { return (nil, .changed(state.number)) }
            guard state.waiting.count < Self.mostWaiting else { return (nil, .busy) }
            state.nextWaiter += 1
            state.waiting[state.nextWaiter] = .some(nil)
            return (state.nextWaiter, nil)
        }
        guard let id = place.id else { return place.answer ?? .unchanged }
        // The timer ends the wait after `longest`, and is cancelled if the wait ends earlier.
        let timer = Task { [weak self] in
            try? await Task.sleep(for: longest)
            self?.release(id)
        }
        defer { timer.cancel() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    guard state.waiting[id] != nil else { return true }
                    state.waiting[id] = .some(continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            release(id)
        }
        let number = number
        return number == known ? .unchanged : .changed(number)
    }

    private func release(_ id: Int) {
        let continuation = state.withLock { $0.waiting.removeValue(forKey: id) }
        continuation??.resume()
    }
}
