import Encodings

/// An authorization response: the complete redirect except the code or the error (RFC 6749 §4.1.2).
public struct AuthorizationResponse: Sendable, Hashable {
    public let target: RedirectTarget
    /// The `state`. `nil` if the request had no valid `state`; the response then omits it.
    public let state: RequestState?
    /// The issuer for the `iss` parameter, so that a client that uses several servers can distinguish them
    /// (RFC 9207). `nil` in App Flip, where Google knows the server from the app.
    public let issuer: Issuer?

    init(target: RedirectTarget, state: RequestState?, issuer: Issuer?) {
        self.target = target
        self.state = state
        self.issuer = issuer
    }

    /// Returns the redirect URL with a code.
    public func location(code: String) -> String {
        var query = QueryText()
        query.append("code", code)
        return finished(query)
    }

    /// Returns the redirect URL with an error.
    public func location(error: OAuthError) -> String {
        var query = QueryText()
        query.append("error", error.code.rawValue)
        query.append("error_description", error.explanation)
        return finished(query)
    }

    private func finished(_ query: QueryText) -> String {
        var query = query
        if let state { query.append("state", encoded: state.encoded) }
        if let issuer { query.append("iss", issuer.text) }
        return query.appended(to: target.text)
    }
}

/// The `state` of a request, which the response returns to the client unchanged (RFC 6749 §4.1.2).
public struct RequestState: Sendable, Hashable {
    /// The value as it is encoded in a query.
    let encoded: String

    /// Maximum size of the encoded value in bytes.
    public static let longest = 4096

    /// - Parameter query: The encoded value from a query. It is not decoded, so that the response can return
    ///   it byte for byte. The result is `nil` if it is empty, too long, or contains bytes that no query can
    ///   contain.
    init?(query: some Collection<UInt8>) {
        guard (1...Self.longest).contains(query.count),
            query.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "&") && $0 != UInt8(ascii: "#") })
        else { return nil }
        encoded = String(decoding: query, as: UTF8.self)
    }

    /// - Parameter text: The decoded value from a form or JSON. The result is `nil` if it is empty, or too
    ///   long once encoded.
    init?(text: String) {
        guard (1...Self.longest).contains(text.utf8.count) else { return nil }
        encoded = QueryText.encode(text)
        guard encoded.utf8.count <= Self.longest else { return nil }
    }
}
