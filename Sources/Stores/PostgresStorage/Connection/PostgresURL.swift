import AppleAccounts
import CLibPQ
import Foundation

/// The database's address and credentials: a URL as libpq reads it, with every option that libpq knows.
///
/// The URL contains a password, so the service never prints it. libpq must not print it either: libpq repeats
/// parts of a URL that it has misread, and can mistake half a password for a port.
struct PostgresURL: Sendable {
    let text: String
    /// The URL's options by libpq keyword, without options from the environment.
    let options: [String: String]

    /// True if the URL has several hosts, so another host may accept writes when the current host does not.
    var hasSeveralHosts: Bool {
        ["host", "hostaddr"].contains { options[$0]?.utf8.contains(UInt8(ascii: ",")) ?? false }
    }

    /// Throws `.libraryMissing`, and `.malformed` for a URL that libpq cannot read.
    init(_ text: String) throws(PostgresAddress.Refusal) {
        // All calls of libpq need a URL, so without libpq no URL is made.
        guard siwa_libpq_is_present() != 0 else { throw .libraryMissing }
        guard Self.isUnmistakable(text), let options = Self.options(of: text),
            Self.isPortList(options["port"] ?? "")
        else { throw .malformed }
        (self.text, self.options) = (text, options)
    }

    /// Removes the password from a libpq message. No message should contain it.
    func scrub(_ message: String) -> String {
        guard let password = options["password"], !password.isEmpty else { return message }
        return message.split(separator: password, omittingEmptySubsequences: false)
            .joined(separator: "[password]")
    }

    private static func options(of text: String) -> [String: String]? {
        var message: UnsafeMutablePointer<CChar>?
        let first = PQconninfoParse(text, &message)
        // The message may repeat a password, so it is not shown.
        PQfreemem(message)
        guard let first else { return nil }
        defer { PQconninfoFree(first) }
        var options: [String: String] = [:]
        var option = first
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { options[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        return options
    }

    /// Returns true if "@" occurs only at the end of the user and password, so that no part of a password
    /// without percent-encoding is parsed as a host or a database.
    private static func isUnmistakable(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard text.hasPrefix("postgres://") || text.hasPrefix("postgresql://"), !bytes.contains(0),
            let scheme = bytes.firstIndex(of: UInt8(ascii: ":"))
        else { return false }
        let rest = bytes[(scheme + 3)...]
        let end = rest.firstIndex { $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "/") } ?? rest.endIndex
        var place = rest[end...]
        if place.first == UInt8(ascii: "@") { place = place.dropFirst() }
        return !place.prefix { $0 != UInt8(ascii: "?") }.contains(UInt8(ascii: "@"))
    }

    private static func isPortList(_ text: String) -> Bool {
        text.utf8.allSatisfy {
            $0 == UInt8(ascii: ",") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
        }
    }
}

extension PostgresURL {
    /// The libpq options that apply unless the URL sets them. Without them, the service would notice a
    /// vanished server only after minutes or hours.
    private static let defaults: [(String, String)] = [
        ("connect_timeout", "5"),
        ("keepalives_idle", "30"),
        ("keepalives_interval", "5"),
        ("keepalives_count", "3"),
        ("tcp_user_timeout", "15000"),
        ("fallback_application_name", "siwa"),
    ]

    /// Connects. Blocks for at most `connect_timeout` for each host in the URL.
    ///
    /// - Throws: `PostgresError` if no host accepts the session.
    func connect() throws -> ConnectionHandle {
        let connection = withParameters { PQconnectdbParams($0, $1, 1) }
        guard let connection else { throw PostgresError.refused("out of memory") }
        let handle = ConnectionHandle(owning: connection)
        // Without a notice receiver, libpq prints the server's notices to standard error.
        PQsetNoticeReceiver(handle.pointer, { _, _ in }, nil)
        guard PQstatus(handle.pointer) == CONNECTION_OK else {
            throw PostgresError.refused(scrub(handle.text { UnsafePointer(PQerrorMessage($0)) } ?? ""))
        }
        guard PQsetnonblocking(handle.pointer, 1) == 0 else {
            throw PostgresError.refused("not non-blocking")
        }
        return handle
    }

    /// Returns true if a server accepts connections at the address, even if it refuses the session. If the
    /// server refuses the session, the cause is the user, the password, the database or the number of
    /// connections. Blocks as long as `connect` does.
    func isServerThere() -> Bool {
        withParameters { PQpingParams($0, $1, 1) } == PQPING_OK
    }

    /// Passes libpq's parameters to `body`. Later entries take precedence, so the URL, which libpq expands
    /// from "dbname", overrides the defaults.
    func withParameters<Result>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<UnsafePointer<CChar>?>) -> Result
    ) -> Result {
        var parameters = Self.defaults
        // With several hosts, libpq must select the host that accepts writes, because a failover changes that
        // host.
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
    /// Phrases that only a server with a full disk sends to a new session, because it stores a summary of
    /// each database's catalogs before it serves the first session.
    private static let fullDisk = ["could not write init file", "No space left on device"]

    /// - Parameter message: libpq's message. A failure before the session begins has no SQLSTATE, so a full
    ///   disk is recognized by its message, which works only for servers that report in English.
    static func refused(_ message: String) -> PostgresError {
        let isFull = fullDisk.contains { message.contains($0) }
        return PostgresError(
            sqlState: isFull ? diskFull : connectionRefused, message: message, statement: "connect")
    }
}
