import AppleAccounts
import Synchronization

/// One place for a connection, on a queue of its own. It connects when it is first used, and again after the
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

    /// What all connections of a pool share: the gate that they ask, and what they have given up on.
    final class SharedGate: Sendable {
        let state = Gate(ConnectionGate())
        let abandoned = AbandonedBackends()
    }

    init(
        _ url: PostgresURL, number: Int, gate: SharedGate = SharedGate(), purpose: SessionPurpose = .service
    ) {
        (self.url, self.gate, self.purpose) = (url, gate, purpose)
        executor = ConnectionExecutor(label: "siwa.postgres.\(number)")
    }

    /// Whether it was connected when it was last used. The server may have gone since.
    nonisolated var isOpen: Bool { open.load(ordering: .relaxed) }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Runs a block, at most once, and leaves no transaction open.
    ///
    /// - Throws: What the block throws; `MissingConnection` when it did not run.
    func run<Value: Sendable>(_ body: @Sendable (PostgresSession) throws -> Value) throws -> Value {
        let session = try requireSession()
        defer {
            session.becomeIdle()
            if session.hasGivenUp, let backend = session.backend { gate.abandoned.add(backend) }
            // One that was opened while the database was set to be read stays so when it is not any more, and
            // of several hosts another may take writes by now.
            let isUseless = session.isReadOnly && purpose == .service
            if session.isBroken || session.isStale || isUseless { self.session = nil }
        }
        return try body(session)
    }

    /// Whether a server takes connections there, if not ours.
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
            try SessionSettings.apply(to: session, for: purpose)
            gate.state.withLock { $0.succeeded() }
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

/// There was no connection to run a block on, so nothing of it has run.
struct MissingConnection: Error {
    let cause: any Error
}
