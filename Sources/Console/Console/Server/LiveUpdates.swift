import Synchronization

/// Notifies open pages of changes. A page sends the number that it knows, and waits for a higher number.
public final class LiveUpdates: Sendable {
    /// Pages that may wait at the same time. A page above this number is answered at once.
    static let mostWaiting = 64
    static let longestWait = Duration.seconds(20)
    /// Milliseconds after which a browser asks again, so that a page is loaded about once a second at most.
    static let pause = 1_000
    /// The pause for a page that may not wait.
    static let longPause = 20_000

    private struct State {
        var number: UInt64 = 1
        var nextWaiter = 0
        var waiting: [Int: CheckedContinuation<Void, Never>?] = [:]
    }

    private let state = Mutex(State())

    public init() {}

    /// The number of the last change.
    var number: UInt64 { state.withLock { $0.number } }

    var waiterCount: Int { state.withLock { $0.waiting.count } }

    /// Notifies waiting pages of a change. Called on any thread; costs little when no page waits.
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

    /// Waits until there is a higher number than `known`, at most for `longest`, or until the task is
    /// cancelled.
    func wait(after known: UInt64, atMost longest: Duration = longestWait) async -> Answer {
        let place = state.withLock { state -> (id: Int?, answer: Answer?) in
            // A number of another process counts as a change.
            if state.number != known { return (nil, .changed(state.number)) }
            guard state.waiting.count < Self.mostWaiting else { return (nil, .busy) }
            state.nextWaiter += 1
            state.waiting[state.nextWaiter] = .some(nil)
            return (state.nextWaiter, nil)
        }
        guard let id = place.id else { return place.answer ?? .unchanged }
        // Ends the wait after `longest`. Cancelled if the wait ends earlier.
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
