import AppleAccounts
import CLibPQ
import Dispatch
import Synchronization

/// A slot for one connection, with its own queue. The slot connects at first use, and again after the
/// connection is lost.
actor PostgresConnection {
    typealias Gate = Mutex<ConnectionGate<PostgresError>>

    private let executor: ConnectionExecutor
    private let url: PostgresURL
    private let gate: SharedGate
    private let purpose: SessionPurpose
    private var session: PostgresSession? {
        didSet { open.store(session != nil, ordering: .relaxed) }
    }
    private let open = Atomic(false)

    /// State shared by all connections in a pool: the gate, and the abandoned server processes.
    final class SharedGate: Sendable {
        let state = Gate(ConnectionGate())
        let abandoned = AbandonedBackends()
        /// Number of sessions opened so far.
        let connects = Atomic<Int64>(0)
    }

    init(
        _ url: PostgresURL, number: Int, gate: SharedGate = SharedGate(), purpose: SessionPurpose = .service
    ) {
        (self.url, self.gate, self.purpose) = (url, gate, purpose)
        executor = ConnectionExecutor(label: "siwa.postgres.\(number)")
    }

    /// True if the slot was connected at its last use. The server may have closed the connection since.
    nonisolated var isOpen: Bool { open.load(ordering: .relaxed) }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Runs a block at most once, and leaves no transaction open.
    ///
    /// - Throws: The block's errors; `MissingConnection` if the block did not run.
    func run<Value: Sendable>(_ body: @Sendable (PostgresSession) throws -> Value) throws -> Value {
        let session = try requireSession()
        defer {
            session.becomeIdle()
            if session.hasGivenUp, let backend = session.backend { gate.abandoned.add(backend) }
            // A session opened while the database was read-only stays read-only afterwards, and with several
            // hosts, another host may accept writes by now.
            let isUseless = session.isReadOnly && purpose == .service
            if session.isBroken || session.isStale || isUseless { self.session = nil }
        }
        return try body(session)
    }

    /// Returns true if a server accepts connections at the address, even if it refuses the credentials.
    func isServerThere() -> Bool {
        url.isServerThere()
    }

    func close() {
        session = nil
    }

    private func requireSession() throws -> PostgresSession {
        do {
            return try openSession()
        } catch {
            throw MissingConnection(cause: error)
        }
    }

    private func openSession() throws -> PostgresSession {
        if let session {
            session.checkIdle()
            if !session.isBroken { return session }
            self.session = nil
        }
        if case .fail(let failure) = gate.state.withLock({ $0.ask(at: .now) }) { throw failure }
        do {
            let session = PostgresSession(try url.connect())
            do {
                try SessionSettings.apply(to: session, for: purpose)
            } catch let error as PostgresError {
                throw error.ofNewSession()
            }
            gate.state.withLock { $0.succeeded() }
            gate.connects.add(1, ordering: .relaxed)
            gate.abandoned.end(in: session)
            self.session = session
            return session
        } catch {
            let failure =
                error as? PostgresError
                ?? PostgresError(
                    sqlState: PostgresError.connectionRefused, message: "\(error)", statement: "")
            gate.state.withLock { $0.failed(failure, at: .now, jitter: .random(in: 0...1)) }
            throw error
        }
    }
}

/// Thrown if no connection was available for a block, so the block has not run.
struct MissingConnection: Error {
    let cause: any Error
}

/// Decides which caller may try to connect while the server cannot be reached. Does no I/O and reads no
/// clock.
///
/// After a failure, the gate allows no attempt during a pause, then a single attempt. All other callers get
/// the last error immediately, so requests neither queue up behind time-outs nor flood a server that has
/// just started.
struct ConnectionGate<Failure: Sendable>: Sendable {
    typealias Instant = ContinuousClock.Instant

    enum Action {
        case connect
        case fail(Failure)
    }

    /// The longest pause between two attempts. It is short, so that the service recovers soon after the
    /// server.
    static var longestPause: Duration { .seconds(1) }
    static var shortestPause: Duration { .milliseconds(50) }

    private var failure: Failure?
    private var failures = 0
    private var nextAttempt: Instant?
    private var isTrying = false

    init() {}

    mutating func ask(at now: Instant) -> Action {
        guard let failure, let nextAttempt else { return .connect }
        guard !isTrying, now >= nextAttempt else { return .fail(failure) }
        isTrying = true
        return .connect
    }

    mutating func succeeded() {
        self = ConnectionGate()
    }

    /// - Parameter jitter: From 0 to 1, so that replicas that lost the server together do not reconnect
    ///   together.
    mutating func failed(_ failure: Failure, at now: Instant, jitter: Double) {
        self.failure = failure
        isTrying = false
        failures = min(failures + 1, 10)
        let pause = min(Self.shortestPause * (1 << (failures - 1)), Self.longestPause)
        nextAttempt = now + pause * (0.5 + jitter / 2)
    }
}

/// Runs an actor's jobs one after the other, on its own queue. libpq blocks, so without this queue, threads
/// of the shared pool would wait for a database.
///
/// The queue uses a thread only while it has a job.
final class ConnectionExecutor: SerialExecutor {
    private let queue: DispatchQueue

    init(label: String) {
        queue = DispatchQueue(label: label)
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }
}

/// Owns one `PGconn`. Not copyable, so libpq closes and frees it exactly once.
struct ConnectionHandle: ~Copyable {
    let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) {
        self.pointer = pointer
    }

    /// Copies text that libpq keeps in the connection until it is closed.
    borrowing func text(_ field: (OpaquePointer) -> UnsafePointer<CChar>?) -> String? {
        field(pointer).map { String(cString: $0) }
    }

    deinit { PQfinish(pointer) }
}

/// Owns one `PGresult`. Not copyable, so libpq frees it exactly once.
struct ResultHandle: ~Copyable {
    let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) {
        self.pointer = pointer
    }

    /// Copies text that libpq keeps in the result until it is freed.
    borrowing func text(_ field: (OpaquePointer) -> UnsafePointer<CChar>?) -> String? {
        field(pointer).map { String(cString: $0) }
    }

    deinit { PQclear(pointer) }
}
