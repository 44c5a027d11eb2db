import AuthorizationServer
import NIOHTTP1

/// Why a request with an access token was refused (RFC 6750 §3.1).
struct BearerRefusal: Error {
    let error: OAuthError
    /// Without a token the challenge says no error: the client may only want to know how to authenticate.
    let isTokenMissing: Bool

    static let noToken = BearerRefusal(
        error: OAuthError(.invalidToken, "The request has no access token."), isTokenMissing: true)

    static func malformed(_ explanation: String) -> BearerRefusal {
        BearerRefusal(error: OAuthError(.invalidRequest, explanation), isTokenMissing: false)
    }

    /// The value of `WWW-Authenticate`.
    var challenge: String {
        guard !isTokenMissing else { return #"Bearer realm="siwa""# }
        let scope = error.code == .insufficientScope ? #", scope="openid""# : ""
        return #"Bearer realm="siwa", error="\#(error.code.rawValue)"\#(scope)"#
    }
}
