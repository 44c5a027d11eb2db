import Encodings

/// The redirect of an authorization response: everything except code or error (RFC 6749 §4.1.2).
public struct AuthorizationResponse: Sendable, Hashable {
    public let target: RedirectTarget
    /// The `state`; `nil` when the request had no `state`, or an invalid `state`, which is not returned.
    public let state: RequestState?
    /// The `iss` by which a client of several servers recognizes the server (RFC 9207). `nil` in App Flip,
    /// where Google knows the server from the app.
    public let issuer: Issuer?

    init(target: RedirectTarget, state: RequestState?, issuer: Issuer?) {
        self.target = target
        self.state = state
        self.issuer = issuer
    }

    /// Returns the URL to redirect to with a code.
    public func location(code: String) -> String {
        var query = QueryText()
        query.append("code", code)
        return finished(query)
    }

    /// Returns the URL to redirect to with an error.
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

/// The `state` of a request, which is returned to the client unchanged (RFC 6749 §4.1.2).
public struct RequestState: Sendable, Hashable {
    /// The value as encoded in a query.
    let encoded: String

    /// Largest size in bytes of the encoded value.
    public static let longest = 4096

    /// - Parameter query: The encoded value from a query. It is not decoded, so that it is returned byte for
    ///   byte. Returns `nil` for an empty value, a value above the bound, or bytes that no query has.
    init?(query: some Collection<UInt8>) {
        guard (1...Self.longest).contains(query.count),
            query.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "&") && $0 != UInt8(ascii: "#") })
        else { return nil }
        encoded = String(decoding: query, as: UTF8.self)
    }

    /// - Parameter text: The value itself, from a form or from JSON. Returns `nil`
    ///   when it is empty, or too long after encoding.
    init?(text: String) {
        guard (1...Self.longest).contains(text.utf8.count) else { return nil }
        encoded = QueryText.encode(text)
        guard encoded.utf8.count <= Self.longest else { return nil }
    }
}
