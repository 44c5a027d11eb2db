import Encodings
import StrictJSON

/// Values of a sign-in that `siwa login` keeps between two calls.
struct KeptTokens: Sendable, Equatable {
    let issuer: String
    let clientID: String
    /// Requested scope, so that a call with another `--scope` signs in again; `nil` without `--scope`.
    let requestedScope: String?
    /// Granted scope, if the response has it.
    let scope: String?
    let accessToken: String
    /// Expiry in seconds since 1970; `nil` when the response has none.
    let expiresAt: Int64?
    let refreshToken: String?
    /// `sub` of the ID token, if the response had an ID token.
    let subject: String?

    /// - Parameters:
    ///   - old: The refreshed tokens. The server need not repeat unchanged values.
    ///   - now: Seconds since 1970.
    init(
        _ response: TokenResponse, issuer: String, clientID: String, requestedScope: String?,
        subject: String?,
        replacing old: KeptTokens? = nil, at now: Int64
    ) {
        (self.issuer, self.clientID, self.requestedScope) = (issuer, clientID, requestedScope)
        scope = response.scope ?? old?.scope ?? requestedScope
        accessToken = response.accessToken
        expiresAt = response.lifetime.map { now + $0 }
        refreshToken = response.refreshToken ?? old?.refreshToken
        self.subject = subject ?? old?.subject
    }

    /// Reads the content of the file. Returns `nil` for anything that `json` does not write.
    init?(parsing bytes: [UInt8]) {
        guard let json = try? JSONValue(parsing: bytes), let issuer = json["issuer"]?.string,
            let clientID = json["client_id"]?.string, let accessToken = json["access_token"]?.string
        else { return nil }
        (self.issuer, self.clientID, self.accessToken) = (issuer, clientID, accessToken)
        requestedScope = json["requested_scope"]?.string
        scope = json["scope"]?.string
        expiresAt = json["expires_at"]?.integer
        refreshToken = json["refresh_token"]?.string
        subject = json["sub"]?.string
    }

    /// The content of the file. A program that uses the tokens reads it.
    var json: [UInt8] {
        var json = JSONObject([("issuer", .string(issuer)), ("client_id", .string(clientID))])
        json["sub"] = subject.map { .string($0) }
        json["requested_scope"] = requestedScope.map { .string($0) }
        json["scope"] = scope.map { .string($0) }
        json["token_type"] = .string("Bearer")
        json["access_token"] = .string(accessToken)
        json["expires_at"] = expiresAt.map { .integer($0) }
        json["refresh_token"] = refreshToken.map { .string($0) }
        return JSONValue.object(json).serialized() + [UInt8(ascii: "\n")]
    }
}

extension KeptTokens: CustomStringConvertible, CustomReflectable {
    var description: String { "tokens of \(clientID)" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
