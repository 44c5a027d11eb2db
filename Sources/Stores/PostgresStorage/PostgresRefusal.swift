import CLibPQ
import Foundation

/// The reason why connections fail with the current configuration. Waiting does not help.
public enum PostgresRefusal: Sendable, Equatable {
    /// No name server knows the host.
    case unknownHost(String)
    case passwordMissing
    case passwordWrong
    /// The role does not exist, or `pg_hba.conf` does not admit it from this host.
    case userRefused
    case databaseMissing

    /// Reconnects to find out why the connection failed, and returns the reason as machine-readable codes:
    /// the resolver's error code and the server's SQLSTATE. Blocks for at most a few seconds for each host.
    ///
    /// - Returns: `nil` if the cause may be temporary, or if the connection succeeds.
    public static func find(at address: PostgresAddress) -> PostgresRefusal? {
        guard let url = try? PostgresURL(address.text) else { return nil }
        if let host = unknownHost(of: url) { return .unknownHost(host) }
        let deadline = ContinuousClock.now + .seconds(5)
        guard let response = url.response(before: deadline) else { return nil }
        if response.needsPassword { return .passwordMissing }
        return switch response.sqlState {
        // invalid_password
        case "28P01": .passwordWrong
        // invalid_authorization_specification
        case "28000": .userRefused
        // invalid_catalog_name
        case "3D000": .databaseMissing
        default: nil
        }
    }

    /// Returns a host name that does not exist, if no host can be resolved. If one of several hosts resolves,
    /// it may still respond.
    private static func unknownHost(of url: PostgresURL) -> String? {
        guard url.options["hostaddr"] == nil else { return nil }
        let hosts = (url.options["host"] ?? "").split(separator: ",").map(String.init)
        guard let first = hosts.first, hosts.allSatisfy(isUnknown) else { return nil }
        return first
    }

    private static func isUnknown(_ host: String) -> Bool {
        // A path is a local socket's directory.
        guard !host.hasPrefix("/") else { return false }
        var result: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, nil, nil, &result)
        if let result { freeaddrinfo(result) }
        // The resolver returns another code if the name server is unreachable.
        return code == EAI_NONAME
    }
}

extension PostgresURL {
    /// A server's refusal of a connection.
    fileprivate struct Response {
        let needsPassword: Bool
        /// The last server's SQLSTATE; `nil` if no server responded.
        let sqlState: String?
    }

    /// Connects and returns the refusal; `nil` if the connection succeeds or the deadline passes.
    fileprivate func response(before deadline: ContinuousClock.Instant) -> Response? {
        guard let pointer = withParameters({ PQconnectStartParams($0, $1, 1) }) else { return nil }
        let connection = ConnectionHandle(owning: pointer)
        PQsetNoticeReceiver(connection.pointer, { _, _ in }, nil)
        // With this setting, the message has only the code after the severity, instead of localized text.
        PQsetErrorVerbosity(connection.pointer, PQERRORS_SQLSTATE)
        let wait = SocketWait(deadline: deadline)
        var next = PGRES_POLLING_WRITING
        while next != PGRES_POLLING_FAILED {
            let isWriting = next == PGRES_POLLING_WRITING
            switch wait.wait(for: PQsocket(connection.pointer), writing: isWriting) {
            case .timedOut, .failed: return nil
            case .readable, .writable: next = PQconnectPoll(connection.pointer)
            }
            if next == PGRES_POLLING_OK { return nil }
        }
        let text = connection.text { UnsafePointer(PQerrorMessage($0)) } ?? ""
        return Response(
            needsPassword: PQconnectionNeedsPassword(connection.pointer) == 1,
            sqlState: Self.sqlState(in: text))
    }

    /// Returns the last SQLSTATE in a message of the form `...: FATAL:  28P01`.
    private static func sqlState(in text: String) -> String? {
        text.split(whereSeparator: \.isWhitespace).last.flatMap { word in
            let isCode =
                word.utf8.count == 5 && word.allSatisfy { $0.isASCII && ($0.isNumber || $0.isUppercase) }
            return isCode ? String(word) : nil
        }
    }
}
