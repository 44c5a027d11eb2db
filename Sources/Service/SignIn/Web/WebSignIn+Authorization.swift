public import AppleAccounts

/// Sign-ins that start at this service's own pages and return to them.
extension WebSignIn {
    /// Maximum length of an authorization request's query in bytes. Apple's `state` and our ticket both
    /// contain the sealed query, and both URLs must stay below 8 KiB, the limit of many proxies for a request
    /// line.
    public static let longestQuery = 4096

    /// Returns `true` if a query fits into the state. The characters `"` and `\` count twice, because the
    /// state's JSON escapes them.
    public static func canCarry(_ query: String) -> Bool {
        // The bound is checked first, so that a long query is not read byte by byte.
        guard query.utf8.count <= longestQuery else { return false }
        var size = 0
        for byte in query.utf8 {
            guard isWrittenInQuery(byte) else { return false }
            size += byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") ? 2 : 1
        }
        return size <= longestQuery
    }

    /// Returns `true` if a URL's query can contain the byte. Allows only printable ASCII characters, because
    /// the query becomes part of a header.
    public static func isWrittenInQuery(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "#")
    }

    /// Returns the client ID for signing in to an app with a browser; `nil` if the app has none.
    ///
    /// - Parameter app: The app's primary client ID.
    public func browserClientID(ofApp app: ClientID) -> ClientID? {
        guard let clientIDs = useCases.deployment.app(for: app)?.clientIDs else { return nil }
        return clientIDs.first { settings.redirectURLs[$0] != nil }
    }

    /// Starts a sign-in that ends with `WebArrival.authorization`. Stores nothing.
    ///
    /// - Parameters:
    ///   - app: The app's primary client ID.
    ///   - query: The unchanged query of the authorization request. It is a programming error to pass a query
    ///     that `canCarry` refuses.
    ///   - cookie: The web sign-in cookie that the browser sent.
    /// - Throws: `UnknownClientID` if the app has no client ID for browsers.
    public func begin(
        authorizationFor app: ClientID, query: String, cookie: String?
    ) throws(UnknownClientID) -> WebAuthorizationRequest {
        try begin(for: app, .authorization(query: query), query, cookie)
    }

    /// Starts a sign-in that ends with `WebArrival.connections`. Stores nothing.
    ///
    /// - Parameters: The same parameters as for an authorization request.
    /// - Throws: `UnknownClientID` if the app has no client ID for browsers.
    public func begin(
        connectionsOf app: ClientID, query: String, cookie: String?
    ) throws(UnknownClientID) -> WebAuthorizationRequest {
        try begin(for: app, .connections(query: query), query, cookie)
    }

    /// Starts a sign-in that ends with `WebArrival.device`. Stores nothing.
    ///
    /// - Parameters: The same parameters as for an authorization request.
    /// - Throws: `UnknownClientID` if the app has no client ID for browsers.
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

/// The redirect that starts a web sign-in.
public struct WebAuthorizationRequest: Sendable {
    /// The URL of Apple's page, including all parameters.
    public let location: String
    public let browser: BrowserSecret
}

/// The user data that a sign-in requests from Apple: nothing, the name, the e-mail address, or both.
public struct WebScope: Sendable, Hashable {
    public let rawValue: String

    public static let nameAndEmail = WebScope(unchecked: "name email")
    /// Length of the longest scope in bytes.
    public static let longest = nameAndEmail.rawValue.utf8.count

    /// Reads words separated by single spaces. Returns `nil` for a repeated word, and for a word that Apple
    /// does not define.
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
