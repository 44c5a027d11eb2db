import AppleAccounts
import SQLTables
import Synchronization

/// The server's processes that sessions have given up on, until a later session has ended them.
///
/// A commit that waits for a standby ends by itself only when the standby is back. Neither a time limit nor the
/// closed connection ends it, it holds its locks and its place among `max_connections`, and each try would
/// leave one more. What it has written is committed on this server then, as it is after a crash.
final class AbandonedBackends: Sendable {
    /// More than a pool has connections. Those beyond it are left to the server.
    private static let most = 64

    private static let terminate = TypedStatement<[Int64], [Int64]>("end_abandoned") { processes, times in
        """
        SELECT pg_terminate_backend(a.pid) FROM unnest(\(processes), \(times)) AS gone (pid, began)
        JOIN pg_stat_activity AS a ON a.pid = gone.pid AND \(Backend.began("a.backend_start")) = gone.began
        """
    }

    private let backends = Mutex<[Backend]>([])

    func add(_ backend: Backend) {
        backends.withLock { if $0.count < Self.most { $0.append(backend) } }
    }

    /// Ends them, on a session of the same role. What cannot be ended now waits for the next session.
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

/// One process of a server. The system gives its number away again, so the time is part of the name.
struct Backend: Sendable, Hashable {
    let process: Int64
    /// Microseconds since 1970.
    let began: Int64

    /// The SQL of that number.
    static func began(_ time: String) -> String { "(extract(epoch FROM \(time)) * 1000000)::bigint" }
}
