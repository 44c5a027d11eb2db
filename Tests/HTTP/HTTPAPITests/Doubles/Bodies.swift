import StrictJSON
import TokenMint

/// Request bodies as a backend would write them.
enum Bodies {
    static func token(_ change: (inout JSONObject) -> Void = { _ in }) throws -> String {
        var claims = TokenMint.identityClaims()
        change(&claims)
        return try TokenMint.shared.sign(claims)
    }

    static func json(_ members: [(String, JSONValue)]) -> String {
        String(decoding: JSONValue.object(JSONObject(members)).serialized(), as: UTF8.self)
    }

    static func identityToken(
        _ more: [(String, JSONValue)] = [], _ change: (inout JSONObject) -> Void = { _ in }
    ) throws -> String {
        json([("identity_token", .string(try token(change)))] + more)
    }

    static func notification(type: String = "consent-revoked", id: String = "jti-1") throws -> String {
        // Ten seconds later than the token: consent is withdrawn after it was given.
        var claims = TokenMint.notificationClaims(type: type, at: TokenMint.sampleTime + 10)
        claims["jti"] = .string(id)
        return json([("payload", .string(try TokenMint.shared.sign(claims)))])
    }
}
