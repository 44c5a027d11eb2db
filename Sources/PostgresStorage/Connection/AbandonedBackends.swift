import AppleAccounts
import SQLTables
import Synchronization

/// Server processes that sessions have given up on, until another session has terminated them: one that the
/// pool opens for this at once, or, when the server cannot be reached, the next one.
///
/// A commit that waits for a standby ends by itself only when the standby is back. Neither a time limit nor a
/// closed connection ends it; it keeps its locks and its slot among `max_connections`, and each retry would
/// leave another such process. After the termination its writes are committed on this server, as after a
/// crash.
final class AbandonedBackends: Sendable {
    /// More than the connections of a pool. Further processes are left to the server.
    private static let most = 64

    private static let terminate = TypedStatement<[Int64], [Int64]>("end_abandoned") { processes, times in
        """
        SELECT pg_terminate_backend(a.pid) FROM unnest(\(processes), \(times)) AS gone (pid, began)
        JOIN pg_stat_activity AS a ON a.pid = gone.pid AND \(Backend.began("a.backend_start")) = gone.began
        """
    }

    private let backends = Mutex<[Backend]>([])

    var isEmpty: Bool { backends.withLock(\.isEmpty) }

    func add(_ backend: Backend) {
        backends.withLock { if $0.count < Self.most { $0.append(backend) } }
    }

    /// Terminates the processes, on a session of the same role. A process that cannot be terminated now waits
    /// for the next session.
    func end(in session: PostgresSession) {
        let all = backends.withLock { backends in
            defer { backends = [] }
            return backends
        }
        guard !all.isEmpty else { return }
        do {
            _ = try session.run(Self.terminate(all.map(\.process), all.map(\.began)))
        } catch {
            for backend in all { add(backend) }
        }
    }
}

/// A process of a server. The system reuses process numbers, so the start time is part of the identity.
struct Backend: Sendable, Hashable {
    let process: Int64
    /// Microseconds since 1970.
    let began: Int64

    /// Returns the SQL of `began` for a timestamp.
    static func began(_ time: String) -> String { "(extract(epoch FROM \(time)) * 1000000)::bigint" }
}
