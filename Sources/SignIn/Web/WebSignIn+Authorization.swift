public import AppleAccounts

/// Sign-ins that the authorization endpoint of this service begins, and that lead back to it.
extension WebSignIn {
    /// The most bytes of an authorization request's query. It travels sealed in Apple's `state` and in our
    /// ticket, and both URLs stay below 8 KiB, the limit of many proxies for a request line.
    public static let longestQuery = 4096

    /// Whether a query can travel; `"` and `\` count twice, because the state's JSON escapes them.
    public static func canCarry(_ query: some StringProtocol) -> Bool {
        guard isWrittenAsQuery(query) else { return false }
        let escapes = query.utf8.count { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }
        return query.utf8.count + escapes <= longestQuery
    }

    /// Whether a text can stand in a URL as its query: it has printable ASCII characters only, because it
    /// becomes a part of a header field again.
    public static func isWrittenAsQuery(_ text: some StringProtocol) -> Bool {
        text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }
    }

    /// The client ID of an app that people sign in to in a browser, or `nil` when the app has none.
    ///
    /// - Parameter app: By its primary client ID.
    public func browserClientID(ofApp app: ClientID) -> ClientID? {
        guard let clientIDs = useCases.deployment.app(for: app)?.clientIDs else { return nil }
        return clientIDs.first { settings.redirectURLs[$0] != nil }
    }

    /// Begins a sign-in that ends at `WebArrival.authorization`. Stores nothing.
    ///
    /// - Parameters:
    ///   - app: The primary client ID of the app.
    ///   - query: Of the authorization request, as it came. One that `canCarry` refuses is a programmer
    ///     error.
    ///   - cookie: The cookie of web sign-ins that the browser sent.
    /// - Throws: `UnknownClientID` when the app has no client ID for browsers.
    public func begin(
        authorizationFor app: ClientID, query: String, cookie: String?
    ) throws(UnknownClientID) -> WebAuthorizationRequest {
        precondition(Self.canCarry(query), "the query cannot travel to Apple and back")
        guard let clientID = browserClientID(ofApp: app) else { throw UnknownClientID() }
        return begin(
            clientID, scope: .nameAndEmail, cookie: cookie, destination: .authorization(query: query))
    }
}
