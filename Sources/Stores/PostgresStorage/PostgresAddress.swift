/// The address of a PostgreSQL database, in libpq's own notation (PostgreSQL's manual, "Connection URIs"):
/// several hosts, Unix sockets, TLS and every other option. The initializer checks the text as far as
/// possible without connecting.
public struct PostgresAddress: Sendable, Equatable {
    /// The reason for a refusal. It never repeats any part of the text, which can contain a password.
    public enum Refusal: Error, Sendable, Equatable {
        /// This program has no libpq, like the Python package's siwa-dev.
        case libraryMissing
        /// libpq cannot parse the text, or does not know one of its parameters.
        case malformed
        /// The named option has a value that libpq would refuse.
        case optionMalformed(String)
    }

    /// The text as given. It can contain a password.
    public let text: String
    /// The database's hosts, ports and name, for display. No other part of the address may be displayed.
    public let place: String

    public init(_ text: String) throws(Refusal) {
        let options = try PostgresURL(text).options
        for (name, allowed) in Self.choices {
            guard let value = options[name] else { continue }
            guard allowed.contains(value) else { throw .optionMalformed(name) }
        }
        let ports = options["port"]?.split(separator: ",", omittingEmptySubsequences: false) ?? []
        guard ports.allSatisfy({ $0.isEmpty || (UInt16($0) ?? 0) > 0 }) else {
            throw .optionMalformed("port")
        }
        let hosts = (options["host"] ?? options["hostaddr"] ?? "").split(
            separator: ",", omittingEmptySubsequences: false)
        for name in Self.numbers {
            guard let value = options[name] else { continue }
            guard Int32(value) != nil else { throw .optionMalformed(name) }
        }
        self.text = text
        place = Self.place(hosts, ports: ports, database: options["dbname"])
    }

    /// Options that libpq checks only when it connects, which is too late for a configuration mistake.
    private static let choices: [(String, Set<String>)] = [
        ("sslmode", ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"]),
        ("gssencmode", ["disable", "prefer", "require"]),
        ("channel_binding", ["disable", "prefer", "require"]),
        (
            "target_session_attrs",
            ["any", "read-write", "read-only", "primary", "standby", "prefer-standby"]
        ),
    ]

    private static let numbers = [
        "connect_timeout", "keepalives", "keepalives_idle", "keepalives_interval", "keepalives_count",
        "tcp_user_timeout",
    ]

    private static func place(_ hosts: [Substring], ports: [Substring], database: String?) -> String {
        let servers = hosts.enumerated().map { index, host in
            // A single port applies to every host.
            let port = ports.count == 1 ? ports[0] : index < ports.count ? ports[index] : ""
            let name = host.isEmpty ? "a local socket" : String(host)
            return port.isEmpty || host.isEmpty || host.hasPrefix("/") ? name : "\(name):\(port)"
        }
        let place = servers.joined(separator: ", ")
        return database.map { "\($0) at \(place)" } ?? place
    }
}

extension PostgresAddress: CustomStringConvertible, CustomDebugStringConvertible {
    /// The place without the password, because the password must not reach a log.
    public var description: String { place }
    public var debugDescription: String { place }
}
