import AppleAccounts
import Dispatch
import Synchronization

/// A bounded number of connections, opened as they are needed and kept.
///
/// Whoever finds none free waits for a while, the longest waiting first. A connection that was lost is opened
/// again by the next who needs it. A block that was given to it runs at most once.
final class PostgresPool: Sendable {
    private typealias Waiter = CheckedContinuation<PostgresConnection, any Error>

    private struct State {
        /// The one used last is used first, so that what is not needed is never opened.
        var free: [PostgresConnection]
        var line = WaitingLine<Waiter>()
        var hasTimer = false
        var isClosed = false
    }

    private let connections: [PostgresConnection]
    private let patience: Duration
    private let state: Mutex<State>
    private let failure = Mutex<StorageError?>(nil)

    /// - Parameter patience: How long anybody waits for a free connection.
    init(
        _ url: PostgresURL, connections: Int, patience: Duration = .seconds(5),
        purpose: SessionPurpose = .service
    ) {
        precondition(connections > 0, "a pool needs a connection")
        let gate = PostgresConnection.SharedGate()
        self.connections = (0..<connections).map {
            PostgresConnection(url, number: $0, gate: gate, purpose: purpose)
        }
        self.patience = patience
        state = Mutex(State(free: self.connections.reversed()))
    }

    /// What the last block failed with; `nil` when it went well. A refused value is nobody's failure.
    var lastFailure: StorageError? { failure.withLock { $0 } }

    /// Runs a block on a connection. It is not cancelled with its caller once it has begun.
    ///
    /// - Throws: `StorageError`, `busy` when no connection came free in time; `CancellationError` when the
    ///   caller was cancelled while waiting; and what the block throws of other types.
    func run<Value: Sendable>(
        _ body: @escaping @Sendable (PostgresSession) throws -> Value
    ) async throws -> Value {
        let connection = try await checkOut()
        do {
            let value = try await connection.run(body)
            checkIn(connection)
            failure.withLock { $0 = nil }
            return value
        } catch {
            checkIn(connection)
            guard error is StorageError || error is PostgresError else { throw error }
            let error = StorageError(error)
            if error.code != .valueRefused { failure.withLock { $0 = error } }
            throw error
        }
    }

    /// Closes every connection, after what is running on it. Calls that come later fail.
    func close() async {
        let waiters = state.withLock { state in
            state.isClosed = true
            return state.line.all()
        }
        for waiter in waiters { waiter.resume(throwing: Self.closed) }
        for connection in connections { await connection.close() }
    }

    private func checkOut() async throws -> PostgresConnection {
        let free: PostgresConnection? = try state.withLock { state in
            guard !state.isClosed else { throw Self.closed }
            return state.free.popLast()
        }
        if let free { return free }
        let number = state.withLock { $0.line.makeNumber() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { wait($0, number: number) }
        } onCancel: {
            state.withLock { $0.line.leave(number: number) }?.resume(throwing: CancellationError())
        }
    }

    private func wait(_ waiter: Waiter, number: UInt64) {
        // Cancelled before it had a place to leave.
        guard !Task.isCancelled else { return waiter.resume(throwing: CancellationError()) }
        enum Outcome { case waits, startsTimer, serve(PostgresConnection), refuse(StorageError) }
        let outcome: Outcome = state.withLock { state in
            guard !state.isClosed else { return .refuse(Self.closed) }
            if let free = state.free.popLast() { return .serve(free) }
            guard state.line.join(waiter, number: number, until: .now + patience) else {
                return .refuse(Self.noneFree)
            }
            defer { state.hasTimer = true }
            return state.hasTimer ? .waits : .startsTimer
        }
        switch outcome {
        case .waits: break
        case .startsTimer: startTimer(patience)
        case .serve(let connection): waiter.resume(returning: connection)
        case .refuse(let error): waiter.resume(throwing: error)
        }
    }

    private func checkIn(_ connection: PostgresConnection) {
        let waiter = state.withLock { state in
            let waiter = state.line.first()
            if waiter == nil { state.free.append(connection) }
            return waiter
        }
        waiter?.resume(returning: connection)
    }

    /// One timer for all who wait; there is none while nobody does.
    private func startTimer(_ delay: Duration) {
        let milliseconds = Int((max(delay, .zero) / .milliseconds(1)).rounded(.up))
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [weak self] in
            self?.expire()
        }
    }

    private func expire() {
        let (expired, next) = state.withLock { state in
            let expired = state.line.expired(at: .now)
            state.hasTimer = !state.line.isEmpty
            return (expired, state.line.nextDeadline)
        }
        for waiter in expired { waiter.resume(throwing: Self.noneFree) }
        if let next { startTimer(ContinuousClock.now.duration(to: next)) }
    }

    private static var closed: StorageError { StorageError(.unavailable, detail: "the database was closed") }
    private static var noneFree: StorageError {
        StorageError(.busy, detail: "no connection came free in time")
    }
}
