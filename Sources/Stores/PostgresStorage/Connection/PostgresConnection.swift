import AppleAccounts
import Synchronization

/// One slot for a connection, on a queue of its own. It connects at the first use, and again after the
/// connection was lost.
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

    /// State shared by all connections of a pool: the gate, and the abandoned server processes.
    final class SharedGate: Sendable {
        let state = Gate(ConnectionGate())
        let abandoned = AbandonedBackends()
        /// Number of sessions that were opened.
        let connects = Atomic<Int64>(0)
    }

    init(
        _ url: PostgresURL, number: Int, gate: SharedGate = SharedGate(), purpose: SessionPurpose = .service
    ) {
        (self.url, self.gate, self.purpose) = (url, gate, purpose)
        executor = ConnectionExecutor(label: "siwa.postgres.\(number)")
    }

    /// Indicates that it was connected at its last use. The server may have gone since.
    nonisolated var isOpen: Bool { open.load(ordering: .relaxed) }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Runs a block, at most once, and leaves no transaction open.
    ///
    /// - Throws: Errors of the block; `MissingConnection` when the block did not run.
    func run<Value: Sendable>(_ body: @Sendable (PostgresSession) throws -> Value) throws -> Value {
        let session = try requireSession()
        defer {
            session.becomeIdle()
            if session.hasGivenUp, let backend = session.backend { gate.abandoned.add(backend) }
            // A session that was opened while the database was read-only stays read-only after that ends, and
            // with several hosts another host may accept writes by now.
            let isUseless = session.isReadOnly && purpose == .service
            if session.isBroken || session.isStale || isUseless { self.session = nil }
        }
        return try body(session)
    }

    /// Returns true if a server accepts connections there, even if it refuses ours.
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

/// No connection was available for a block, so nothing of it has run.
struct MissingConnection: Error {
    let cause: any Error
}
