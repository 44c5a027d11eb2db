/// A request as the console shows it.
package struct RecentRequest: Sendable {
    /// Rises with each request of the process.
    package let number: Int
    /// Milliseconds since 1970.
    package let time: Int64
    package let method: String
    /// The template of the path; `none` where no call matches.
    package let route: String
    package let status: Int
    package let code: String?
    /// The name of the API key.
    package let caller: String?
    /// The ID of a configured OAuth client that the request names.
    package let client: String?
    /// Indicates that a key, a secret or a signature has proved who asks. Anyone can name a client.
    package let isProven: Bool
    package let microseconds: Int64
    /// Beginning, in nanoseconds of the machine's monotonic clock.
    package let begin: UInt64
    package let requestID: String
    package let traceID: String?
    /// Reason and grant type of a refused token request.
    package let reason: String?
    package let grantType: String?
    package let refusal: RecentRefusal?
    /// `nil` outside of development, and when it was dropped to keep the bound.
    package var exchange: KeptExchange?

    package var isRefused: Bool { status >= 400 || code != nil || reason != nil }
}

/// The error of a request: the check that refused it, what it expects, and what it found.
package struct RecentRefusal: Sendable, Equatable {
    /// The step of a verification, or the kind of the error.
    package let check: String
    /// A fixed sentence.
    package let expected: String
    /// A value of an unverified request. It has no secret and no name of a user, is bounded, and is shown in the
    /// console only. `nil` if the error has none.
    package let found: String?
}

/// The whole of a request and its response, for development. It has every secret that the client sent.
package struct KeptExchange: Sendable {
    /// Bytes of a body that are kept.
    package static let longestBody = 16 * 1024

    package let target: String
    package let contentType: String?
    package let authorization: String?
    package let body: [UInt8]
    /// True if the body was longer: such a request cannot be sent again.
    package let isBodyCut: Bool
    package let response: [UInt8]
    package let responseType: String?
    /// The target of a redirect.
    package let location: String?

    /// Bytes in memory, about.
    var size: Int {
        target.utf8.count + body.count + response.count + (authorization?.utf8.count ?? 0)
            + (location?.utf8.count ?? 0)
    }
}
