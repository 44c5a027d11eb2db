import AuthorizationServer
import NIOHTTP1

/// The refusal of a request with an access token (RFC 6750 §3.1).
struct BearerRefusal: Error {
    let error: OAuthError
    /// True if the request has no token. Neither the challenge nor the body then has an error code: the
    /// client may only want to learn how to authenticate. The log has the code.
    let isTokenMissing: Bool

    static let noToken = BearerRefusal(
        error: OAuthError(.invalidToken, "The request has no access token."), isTokenMissing: true)

    static func malformed(_ explanation: String) -> BearerRefusal {
        BearerRefusal(error: OAuthError(.invalidRequest, explanation), isTokenMissing: false)
    }

    /// An object in each case, for clients that read the body of every response as JSON.
    var body: [UInt8] { isTokenMissing ? Array("{}".utf8) : error.json }

    /// The value of `WWW-Authenticate`.
    var challenge: String {
        guard !isTokenMissing else { return #"Bearer realm="siwa""# }
        let scope = error.code == .insufficientScope ? #", scope="openid""# : ""
        return #"Bearer realm="siwa", error="\#(error.code.rawValue)"\#(scope)"#
    }
}
