import AppleAccounts
import Dispatch
import Synchronization

/// A bounded number of connections. The pool opens them on demand and keeps them open.
///
/// Callers that find no free connection wait in order of arrival. The next caller that needs a lost
/// connection opens it again. A block runs at most once.
final class PostgresPool: Sendable {
    private typealias Waiter = CheckedContinuation<PostgresConnection, any Error>

    private struct State {
        /// Free connections. The pool reuses the most recently used connection, so that it never opens more
        /// connections than it needs.
        var free: [PostgresConnection]
        var line = WaitingLine<Waiter>()
        var hasTimer = false
        var isClosed = false
        var isEndingAbandoned = false
        /// Failures of statements that got no response. The pool reports them once their cause is known.
        var unexplained: [StorageError] = []
    }

    private let connections: [PostgresConnection]
    private let gate: PostgresConnection.SharedGate
    private let url: PostgresURL
    private let patience: Duration
    private let onFailure: @Sendable (StorageError) -> Void
    private let reports = Atomic(false)
    private let state: Mutex<State>

    /// - Parameters:
    ///   - patience: Maximum time that a caller waits for a free connection.
    ///   - onFailure: Called for each block failure that is caused by the database or by waiting for a
    ///     connection, from `reportFailures` until `close`. It must not block.
    init(
        _ url: PostgresURL, connections: Int, patience: Duration = .seconds(5),
        purpose: SessionPurpose = .service, onFailure: @escaping @Sendable (StorageError) -> Void = { _ in }
    ) {
        precondition(connections > 0, "a pool needs a connection")
        let gate = PostgresConnection.SharedGate()
        self.connections = (0..<connections).map {
            PostgresConnection(url, number: $0, gate: gate, purpose: purpose)
        }
        (self.gate, self.url, self.patience, self.onFailure) = (gate, url, patience, onFailure)
        state = Mutex(State(free: self.connections.reversed()))
    }

    /// The current connection usage, for the operator.
    var usage: PoolUsage {
        let (free, waiting) = state.withLock { ($0.free.count, $0.line.count) }
        return PoolUsage(
            open: connections.count(where: \.isOpen), inUse: connections.count - free, waiting: waiting,
            connects: gate.connects.load(ordering: .relaxed))
    }

    /// Starts reporting failures. Earlier failures are expected, because the process may still be waiting for
    /// a server.
    func reportFailures() { reports.store(true, ordering: .relaxed) }

    /// Runs a block on a connection. A block that has begun continues even if its caller is cancelled.
    ///
    /// - Throws: `StorageError`, with `busy` if no connection became free in time; `CancellationError` if the
    ///   caller was cancelled while waiting; and errors of other types from the block.
    func run<Value: Sendable>(
        _ body: @escaping @Sendable (PostgresSession) throws -> Value
    ) async throws -> Value {
        do {
            let connection = try await checkOut()
            do {
                return try await run(body, on: connection)
            } catch let missing as MissingConnection {
                guard let other = try await checkOutOpen(after: connection) else { throw missing }
                return try await run(body, on: other)
            }
        } catch let missing as MissingConnection {
            throw reported(StorageError(missing.cause))
        } catch let error as PostgresError {
            let isEnding = error.isSilence && state.withLock { $0.isEndingAbandoned }
            throw isEnding ? explainedLater(StorageError(error)) : reported(StorageError(error))
        } catch let error as StorageError {
            throw reported(error)
        }
    }

    private func reported(_ error: StorageError) -> StorageError {
        let isMeant = error.code != .valueRefused && reports.load(ordering: .relaxed)
        if isMeant, !state.withLock({ $0.isClosed }) { onFailure(error) }
        return error
    }

    /// Leaves the report to the task that terminates the session on the server, because that task learns why
    /// the session waits.
    private func explainedLater(_ error: StorageError) -> StorageError {
        let isLate = state.withLock { state in
            if state.isEndingAbandoned { state.unexplained.append(error) }
            return !state.isEndingAbandoned
        }
        return isLate ? reported(error) : error
    }

    private func reportUnexplained() {
        let (errors, standbys) = state.withLock { state in
            defer { (state.unexplained, state.isEndingAbandoned) = ([], false) }
            return (state.unexplained, gate.abandoned.lostStandbys)
        }
        for error in errors {
            guard let standbys else {
                _ = reported(error)
                continue
            }
            let detail =
                "no standby confirms commits: synchronous_standby_names is '\(standbys)'; start the standby, or take "
                + "it out of the setting"
            _ = reported(StorageError(error.code, detail: detail, databaseCode: error.databaseCode))
        }
    }

    /// Closes every connection after its current block. Later calls fail.
    func close() async {
        let waiters = state.withLock { state in
            state.isClosed = true
            return state.line.all()
        }
        for waiter in waiters { waiter.resume(throwing: Self.closed) }
        for connection in connections { await connection.close() }
    }

    private func run<Value: Sendable>(
        _ body: @escaping @Sendable (PostgresSession) throws -> Value, on connection: PostgresConnection
    ) async throws -> Value {
        do {
            let value = try await connection.run(body)
            checkIn(connection)
            return value
        } catch let missing as MissingConnection {
            let stranded: [Waiter] = state.withLock { state in
                // The connection becomes the last choice, so that it is not tried while another connection is
                // open.
                state.free.insert(connection, at: 0)
                // If another connection is open, it will be returned and passed to the next caller. If none
                // is open, all waiting callers are resumed here.
                return connections.contains(where: \.isOpen) ? [] : state.line.all()
            }
            for waiter in stranded { waiter.resume(throwing: missing) }
            throw missing
        } catch {
            checkIn(connection)
            if !gate.abandoned.isEmpty { endAbandoned() }
            throw error
        }
    }

    /// Opens a separate connection to terminate the server processes that sessions have given up on, and
    /// closes it. The pool's own connections may all wait for the same lost standby, and without calls none
    /// of them would reconnect.
    private func endAbandoned() {
        let isFirst = state.withLock { state in
            defer { state.isEndingAbandoned = true }
            return !state.isEndingAbandoned && !state.isClosed
        }
        guard isFirst else { return }
        Task {
            // A new session terminates the processes when it opens. If the session cannot be opened, the next
            // session terminates them.
            let connection = PostgresConnection(url, number: -2, gate: gate)
            try? await connection.run { _ in }
            await connection.close()
            reportUnexplained()
        }
    }

    /// Waits for an open connection when the caller could not open its own because the server allows fewer
    /// connections than the pool. Returns `nil` if no connection is open.
    private func checkOutOpen(after failed: PostgresConnection) async throws -> PostgresConnection? {
        enum Outcome { case serve(PostgresConnection), wait, fail }
        let outcome: Outcome = state.withLock { state in
            if let index = state.free.lastIndex(where: \.isOpen) {
                return .serve(state.free.remove(at: index))
            }
            // All open connections are in use, and one of them will be returned.
            return connections.contains(where: \.isOpen) ? .wait : .fail
        }
        switch outcome {
        case .serve(let connection): return connection
        case .wait: return try await waitInLine(onlyOpen: true)
        case .fail: return nil
        }
    }

    private func checkOut() async throws -> PostgresConnection {
        let free: PostgresConnection? = try state.withLock { state in
            guard !state.isClosed else { throw Self.closed }
            return state.free.popLast()
        }
        if let free { return free }
        return try await waitInLine(onlyOpen: false)
    }

    private func waitInLine(onlyOpen: Bool) async throws -> PostgresConnection {
        let number = state.withLock { $0.line.makeNumber() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { wait($0, number: number, onlyOpen: onlyOpen) }
        } onCancel: {
            state.withLock { $0.line.leave(number: number) }?.resume(throwing: CancellationError())
        }
    }

    private func wait(_ waiter: Waiter, number: UInt64, onlyOpen: Bool) {
        // The caller was cancelled before it joined the queue.
        guard !Task.isCancelled else { return waiter.resume(throwing: CancellationError()) }
        enum Outcome { case waits, startsTimer, serve(PostgresConnection), refuse(StorageError) }
        let outcome: Outcome = state.withLock { state in
            guard !state.isClosed else { return .refuse(Self.closed) }
            // A caller that returned a connection before this caller joined the queue saw no waiting caller.
            // If no connection is in use, no caller will return one.
            let isAnyLent = state.free.count < connections.count
            if let index = state.free.lastIndex(where: { !onlyOpen || $0.isOpen || !isAnyLent }) {
                return .serve(state.free.remove(at: index))
            }
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

    /// Starts the single timer for all waiting callers. While no caller waits, there is no timer.
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

/// This process's use of the server's connections.
public struct PoolUsage: Sendable, Equatable {
    /// Number of open connections, excluding the announcement connection.
    public let open: Int
    /// Number of connections that callers are using.
    public let inUse: Int
    /// Number of callers waiting for a connection.
    public let waiting: Int
    /// Number of sessions opened since the start, including every reconnection.
    public let connects: Int64
}

/// The queue of callers waiting for a free connection, longest waiting first. It limits both the number of
/// callers and their waiting time. Does no I/O and reads no clock.
struct WaitingLine<Ticket: Sendable>: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// Maximum number of waiting callers. Further callers would not be served in time.
    static var longest: Int { 4096 }

    private struct Place: Sendable {
        let number: UInt64
        let deadline: Instant
        let ticket: Ticket
    }

    private var places: [Place] = []
    /// Number of entries at the front whose callers have left the queue. The queue removes them in bulk.
    private var gone = 0
    private var nextNumber: UInt64 = 0

    init() {}

    var isEmpty: Bool { places.count == gone }
    var count: Int { places.count - gone }

    /// The first waiting caller's deadline.
    var nextDeadline: Instant? { isEmpty ? nil : places[gone].deadline }

    mutating func makeNumber() -> UInt64 {
        nextNumber += 1
        return nextNumber
    }

    /// Returns `false` if the queue is full.
    mutating func join(_ ticket: Ticket, number: UInt64, until deadline: Instant) -> Bool {
        guard places.count - gone < Self.longest else { return false }
        places.append(Place(number: number, deadline: deadline, ticket: ticket))
        return true
    }

    mutating func first() -> Ticket? {
        guard !isEmpty else { return nil }
        defer { drop() }
        return places[gone].ticket
    }

    mutating func leave(number: UInt64) -> Ticket? {
        guard let index = places[gone...].firstIndex(where: { $0.number == number }) else { return nil }
        return places.remove(at: index).ticket
    }

    mutating func expired(at now: Instant) -> [Ticket] {
        var tickets: [Ticket] = []
        while let deadline = nextDeadline, deadline <= now, let ticket = first() { tickets.append(ticket) }
        return tickets
    }

    mutating func all() -> [Ticket] {
        // Numbers are never reused, because a caller that was woken may be about to stop waiting.
        defer { (places, gone) = ([], 0) }
        return places[gone...].map(\.ticket)
    }

    private mutating func drop() {
        gone += 1
        guard gone == places.count || gone >= 1024 else { return }
        places.removeFirst(gone)
        gone = 0
    }
}
