import AppleAccounts
import AuthorizationServer
import HTTPEngine
import NIOHTTP1
import OAuth
import StrictJSON

extension HTTPResponse {
    /// Returns the response for an OAuth error (RFC 6749 §5.2, RFC 6750 §3); `nil` for any other error.
    static func oauthError(_ error: any Error) -> HTTPResponse? {
        switch error {
        case let error as TokenEndpointError: return tokenEndpointError(error)
        case let error as OAuthError: return tokenEndpointError(TokenEndpointError(error))
        case let refusal as BearerRefusal:
            return tokenEndpointError(
                TokenEndpointError(refusal.error), body: refusal.body, challenge: refusal.challenge)
        case let error as GuessingPaused:
            var response = tokenEndpointError(error.error)
            response.fields.append(("retry-after", String(error.seconds)))
            return response
        case let paused as RequestsPaused:
            var response = tokenEndpointError(paused.error)
            response.fields.append(("retry-after", String(paused.seconds)))
            return response
        case let error as SecurityEventError: return securityEventError(error)
        default: return nil
        }
    }

    private static func tokenEndpointError(
        _ error: TokenEndpointError, body: [UInt8]? = nil, challenge: String? = nil
    ) -> HTTPResponse {
        var response = oauth(HTTPResponseStatus(statusCode: error.status), body ?? error.error.json)
        response.code = error.error.code.rawValue
        if let challenge = challenge ?? error.challenge {
            response.fields.append(("www-authenticate", challenge))
        }
        if let seconds = error.error.retryAfter {
            response.fields.append(("retry-after", String(seconds)))
        }
        return response
    }

    /// Returns a problem in the format of an OAuth error.
    static func oauthError(_ problem: Problem) -> HTTPResponse {
        let code: OAuthError.Code =
            switch problem.status {
            case .serviceUnavailable: .temporarilyUnavailable
            case .internalServerError: .serverError
            case .unauthorized: .invalidClient
            default: .invalidRequest
            }
        // Some problem texts contain quotation marks. RFC 6749 does not allow them, so they are removed.
        let explanation = problem.detail.filter { $0 != "\"" && $0 != "\\" && $0.isASCII }
        var response = oauth(problem.status, OAuthError(code, explanation).json)
        response.code = problem.code
        if let seconds = problem.retryAfter { response.fields.append(("retry-after", String(seconds))) }
        if let allow = problem.allow { response.fields.append(("allow", allow)) }
        if problem.status == .unauthorized {
            response.fields.append(("www-authenticate", "Bearer realm=\"siwa\""))
        }
        return response
    }

    /// Returns a JSON response that must not be cached (RFC 6749 §5.1, with the `Pragma` field for old
    /// caches).
    static func oauth(_ status: HTTPResponseStatus, _ body: [UInt8]) -> HTTPResponse {
        var response = HTTPResponse.json(status, body)
        response.fields = [("pragma", "no-cache")]
        return response
    }

    /// Returns the error response to a pushed security event token (RFC 8935 §2.3).
    private static func securityEventError(_ error: SecurityEventError) -> HTTPResponse {
        var response = HTTPResponse.json(.badRequest, error)
        response.code = error.code.rawValue
        response.fields = [("content-language", "en")]
        return response
    }
}

/// The refusal of a request with an access token (RFC 6750 §3.1).
struct BearerRefusal: Error {
    let error: OAuthError
    /// True if the request has no token. The challenge and the body then contain no error code, because the
    /// client may only be asking for the authentication method. The log does contain the code.
    let isTokenMissing: Bool

    static let noToken = BearerRefusal(
        error: OAuthError(.invalidToken, "The request has no access token."), isTokenMissing: true)

    static func malformed(_ explanation: String) -> BearerRefusal {
        BearerRefusal(error: OAuthError(.invalidRequest, explanation), isTokenMissing: false)
    }

    /// The body is always a JSON object, because some clients read every response body as JSON.
    var body: [UInt8] { isTokenMissing ? Array("{}".utf8) : error.json }

    /// The value of the `WWW-Authenticate` header.
    var challenge: String {
        guard !isTokenMissing else { return #"Bearer realm="siwa""# }
        let scope = error.code == .insufficientScope ? #", scope="openid""# : ""
        return #"Bearer realm="siwa", error="\#(error.code.rawValue)"\#(scope)"#
    }
}
