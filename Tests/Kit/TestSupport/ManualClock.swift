public import KeySets
import Synchronization

/// A stopped clock that only the test moves.
///
/// It serves as a `Clock` for code that sleeps, and as a `KeySetClock` for code that reads milliseconds since
/// 1970.
public final class ManualClock: Clock, KeySetClock {
    public struct Instant: InstantProtocol {
        /// Time since 1970.
        public var offset: Duration

        public init(offset: Duration) { self.offset = offset }

        init(milliseconds: Int64) { offset = .milliseconds(milliseconds) }

        /// Milliseconds since 1970. Times out of range are clamped.
        var milliseconds: Int64 {
            let (seconds, attoseconds) = offset.components
            let (milliseconds, isTooFar) = seconds.multipliedReportingOverflow(by: 1000)
            guard !isTooFar else { return seconds < 0 ? .min : .max }
            return milliseconds + attoseconds / 1_000_000_000_000_000
        }

        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        public func duration(to other: Instant) -> Duration { other.offset - offset }
        public static func < (lhs: Instant, rhs: Instant) -> Bool { lhs.offset < rhs.offset }
    }

    private struct Sleeper {
        let deadline: Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now: Instant
        var nextID: UInt64 = 0
        var sleepers: [UInt64: Sleeper] = [:]
        /// The callers of `sleeper()` that are still waiting.
        var arrivals: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    public init(millisecondsSince1970 now: Int64 = 0) {
        state = Mutex(State(now: Instant(milliseconds: now)))
    }

    public var now: Instant { state.withLock { $0.now } }
    public var minimumResolution: Duration { .zero }
    public var millisecondsSince1970: Int64 { now.milliseconds }

    /// Seconds since 1970. The clock can be set forwards or back.
    public var secondsSince1970: Int64 {
        get { now.offset.components.seconds }
        set { move { _ in Instant(offset: .seconds(newValue)) } }
    }

    /// Deadlines of the current sleepers, in milliseconds since 1970.
    public var deadlines: [Int64] { state.withLock { $0.sleepers.values.map(\.deadline.milliseconds) } }

    public func sleep(untilMilliseconds moment: Int64) async throws {
        try await sleep(until: Instant(milliseconds: moment), tolerance: nil)
    }

    public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                fallAsleep(Sleeper(deadline: deadline, continuation: continuation), id)
            }
        } onCancel: {
            let sleeper = state.withLock { $0.sleepers.removeValue(forKey: id) }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    private func fallAsleep(_ sleeper: Sleeper, _ id: UInt64) {
        var result: Result<Void, any Error>?
        let arrivals = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            // Read while the lock is held, so that a later cancellation finds the sleeper.
            if Task.isCancelled {
                result = .failure(CancellationError())
            } else if sleeper.deadline <= state.now {
                result = .success(())
            } else {
                state.sleepers[id] = sleeper
                defer { state.arrivals = [] }
                return state.arrivals
            }
            return []
        }
        if let result { sleeper.continuation.resume(with: result) }
        for arrival in arrivals { arrival.resume() }
    }

    /// Sets the clock forwards or back, and wakes the sleepers whose deadlines have been reached.
    public func set(to milliseconds: Int64) {
        move { _ in Instant(milliseconds: milliseconds) }
    }

    /// Moves the clock forwards, but never back.
    public func advance(to milliseconds: Int64) {
        move { max($0, Instant(milliseconds: milliseconds)) }
    }

    public func advance(by duration: Duration) {
        move { $0.advanced(by: duration) }
    }

    private func move(_ change: (Instant) -> Instant) {
        let due = state.withLock { state in
            state.now = change(state.now)
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in due { continuation.resume() }
    }

    /// Returns as soon as a task sleeps.
    public func sleeper() async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                guard state.sleepers.isEmpty else { return true }
                state.arrivals.append(continuation)
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    /// Returns as soon as a task sleeps until exactly this deadline.
    public func sleeper(until milliseconds: Int64) async throws {
        try await eventually { deadlines.contains(milliseconds) }
    }
}

/// A clock whose sleeps return at once, after moving it to their deadline.
public final class HurriedClock: Clock {
    public typealias Instant = ManualClock.Instant

    private let offset = Mutex(Duration.zero)

    public init() {}

    public var now: Instant { Instant(offset: slept) }
    public var minimumResolution: Duration { .zero }
    /// The total duration of all sleeps.
    public var slept: Duration { offset.withLock { $0 } }

    public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        offset.withLock { $0 = max($0, deadline.offset) }
    }
}

/// SplitMix64. The same seed yields the same numbers on every machine, so that a failure can be reproduced.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) {
        state = seed
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
