public import AppleAccounts

/// Sign-ins that start at the authorization endpoint of this service and return to it.
extension WebSignIn {
    /// Number of bytes of the longest query of an authorization request. The query travels sealed in Apple's
    /// `state` and in our ticket, and both URLs stay below 8 KiB, the limit of many proxies for a request
    /// line.
    public static let longestQuery = 4096

    /// Returns `true` if a query fits into the state; `"` and
    /// `\` count twice, because the state's JSON escapes them.
    public static func canCarry(_ query: String) -> Bool {
        // The bound is checked first, so that the bytes of a long query are not read.
        guard query.utf8.count <= longestQuery else { return false }
        var size = 0
        for byte in query.utf8 {
            guard isWrittenInQuery(byte) else { return false }
            size += byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") ? 2 : 1
        }
        return size <= longestQuery
    }

    /// Returns `true` if a byte can occur in the query of a URL: a printable
    /// ASCII character, because the query becomes part of a header field.
    public static func isWrittenInQuery(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "#")
    }

    /// Returns the client ID with which users sign in to an app
    /// in a browser, or `nil` if the app has no such client ID.
    ///
    /// - Parameter app: Its primary client ID.
    public func browserClientID(ofApp app: ClientID) -> ClientID? {
        guard let clientIDs = useCases.deployment.app(for: app)?.clientIDs else { return nil }
        return clientIDs.first { settings.redirectURLs[$0] != nil }
    }

    /// Begins a sign-in that ends at `WebArrival.authorization`. Stores nothing.
    ///
    /// - Parameters:
    ///   - app: The primary client ID of the app.
    ///   - query: The unchanged query of the authorization request. A query that `canCarry` refuses is a
    ///     programmer error.
    ///   - cookie: The cookie of web sign-ins that the browser sent.
    /// - Throws: `UnknownClientID` when the app has no client ID for browsers.
    public func begin(
        authorizationFor app: ClientID, query: String, cookie: String?
    ) throws(UnknownClientID) -> WebAuthorizationRequest {
        try begin(for: app, .authorization(query: query), query, cookie)
    }

    /// Begins a sign-in that ends at `WebArrival.connections`. Stores nothing.
    ///
    /// - Parameters: The same as for an authorization request.
    /// - Throws: `UnknownClientID` when the app has no client ID for browsers.
    public func begin(
        connectionsOf app: ClientID, query: String, cookie: String?
    ) throws(UnknownClientID) -> WebAuthorizationRequest {
        try begin(for: app, .connections(query: query), query, cookie)
    }

    /// Begins a sign-in that ends at `WebArrival.device`. Stores nothing.
    ///
    /// - Parameters: The same as for an authorization request.
    /// - Throws: `UnknownClientID` when the app has no client ID for browsers.
    public func begin(
        deviceOf app: ClientID, query: String, cookie: String?
    ) throws(UnknownClientID) -> WebAuthorizationRequest {
        try begin(for: app, .device(query: query), query, cookie)
    }

    private func begin(
        for app: ClientID, _ destination: WebDestination, _ query: String, _ cookie: String?
    ) throws(UnknownClientID) -> WebAuthorizationRequest {
        precondition(Self.canCarry(query), "the query cannot travel to Apple and back")
        guard let clientID = browserClientID(ofApp: app) else { throw UnknownClientID() }
        return begin(clientID, scope: .nameAndEmail, cookie: cookie, destination: destination)
    }
}

/// The beginning of a web sign-in.
public struct WebAuthorizationRequest: Sendable {
    /// The URL of Apple's page with all its parameters.
    public let location: String
    public let browser: BrowserSecret
}

/// User data requested from Apple: nothing, the name, the e-mail address, or both.
public struct WebScope: Sendable, Hashable {
    public let rawValue: String

    public static let nameAndEmail = WebScope(unchecked: "name email")
    /// Number of bytes of the longest scope.
    public static let longest = nameAndEmail.rawValue.utf8.count

    /// Reads words separated by one space, each at most once. Returns `nil` for a word unknown to Apple.
    public init?(_ text: String) {
        guard text.utf8.count <= Self.longest else { return nil }
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard Set(words).count == words.count, words.allSatisfy({ $0 == "name" || $0 == "email" }) else {
            return nil
        }
        rawValue = text
    }

    private init(unchecked text: String) {
        rawValue = text
    }
}
