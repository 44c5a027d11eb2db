import AppleAccounts
import CLibPQ
import Foundation

extension PostgresURL {
    /// Options for libpq that apply unless the URL sets them. Without them a server that vanished is noticed
    /// after minutes or hours.
    private static let defaults: [(String, String)] = [
        ("connect_timeout", "5"),
        ("keepalives_idle", "30"),
        ("keepalives_interval", "5"),
        ("keepalives_count", "3"),
        ("tcp_user_timeout", "15000"),
        ("fallback_application_name", "siwa"),
    ]

    /// Connects. Blocks, for each of the URL's hosts no longer than its `connect_timeout`.
    ///
    /// - Throws: `PostgresError`.
    func connect() throws -> ConnectionHandle {
        let connection = withParameters { PQconnectdbParams($0, $1, 1) }
        guard let connection else { throw PostgresError.refused("out of memory") }
        let handle = ConnectionHandle(owning: connection)
        // Without a receiver libpq prints the server's notices to standard error.
        PQsetNoticeReceiver(handle.pointer, { _, _ in }, nil)
        guard PQstatus(handle.pointer) == CONNECTION_OK else {
            throw PostgresError.refused(scrub(handle.text { UnsafePointer(PQerrorMessage($0)) } ?? ""))
        }
        guard PQsetnonblocking(handle.pointer, 1) == 0 else {
            throw PostgresError.refused("not non-blocking")
        }
        return handle
    }

    /// Returns true if a server accepts connections there, even if it refuses ours: then the cause is the
    /// user, password, database or number of connections. Blocks as `connect` does.
    func isServerThere() -> Bool {
        withParameters { PQpingParams($0, $1, 1) } == PQPING_OK
    }

    /// Passes libpq's parameters to `body`. Later entries take precedence: the URL, expanded from "dbname",
    /// over our defaults.
    func withParameters<Result>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<UnsafePointer<CChar>?>) -> Result
    ) -> Result {
        var parameters = Self.defaults
        // Selects, among several hosts, the host that accepts writes, which is another host after a failover.
        if hasSeveralHosts { parameters.append(("target_session_attrs", "read-write")) }
        parameters += [("dbname", text), ("client_encoding", "UTF8")]
        let owned = parameters.map { (strdup($0.0), strdup($0.1)) }
        defer {
            for (keyword, value) in owned {
                free(keyword)
                free(value)
            }
        }
        let keywords = owned.map { UnsafePointer($0.0) } + [nil]
        let values = owned.map { UnsafePointer($0.1) } + [nil]
        return body(keywords, values)
    }
}

extension PostgresError {
    /// Phrases that only a server with a full disk sends to a new session: it stores a summary of its
    /// catalogs for each database before it serves the first session.
    private static let fullDisk = ["could not write init file", "No space left on device"]

    /// - Parameter message: libpq's message. A failure before the session has begun has no SQLSTATE, so a
    ///   full disk is recognized by its words, if the server speaks English.
    static func refused(_ message: String) -> PostgresError {
        let isFull = fullDisk.contains { message.contains($0) }
        return PostgresError(
            sqlState: isFull ? diskFull : connectionRefused, message: message, statement: "connect")
    }
}
