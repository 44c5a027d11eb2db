import Cryptography
import EmulatorServer
import Encodings
import StrictJSON

/// The events that Google sends about a Google account (Cross-Account Protection).
enum SentEventType: String, CaseIterable {
    case sessionsRevoked = "sessions-revoked"
    case tokensRevoked = "tokens-revoked"
    case tokenRevoked = "token-revoked"
    case accountDisabled = "account-disabled"
    case accountEnabled = "account-enabled"
    case credentialChangeRequired = "account-credential-change-required"
    case verification

    var uri: String {
        switch self {
        case .tokensRevoked, .tokenRevoked:
            "https://schemas.openid.net/secevent/oauth/event-type/\(rawValue)"
        case .sessionsRevoked, .accountDisabled, .accountEnabled, .credentialChangeRequired, .verification:
            "https://schemas.openid.net/secevent/risc/event-type/\(rawValue)"
        }
    }
}

/// One of Google's security event tokens before it is signed.
struct SentEvent: Sendable {
    static let issuer = "https://accounts.google.com/"

    var type = SentEventType.sessionsRevoked
    /// Value of `sub`: the Google account.
    var subject: String?
    /// Value of `reason` in `account-disabled`: `hijacking` or `bulk-account`.
    var reason: String?
    /// Value of `state` in `verification`.
    var state: String?
    /// Refresh token that `token-revoked` reports as revoked.
    var refreshToken: String?
    /// Event ID to use instead of a new ID, for repeated deliveries.
    var jti: String?

    /// - Parameter now: Seconds since 1970. The claims contain no `exp`, as at Google.
    func claims(for audience: String, at now: Int64) -> JSONObject {
        var event = JSONObject()
        if type == .verification {
            event["state"] = .string(state ?? "")
        } else if type == .tokenRevoked, let refreshToken {
            event["subject"] = .object(
                JSONObject([
                    ("subject_type", .string("oauth_token")), ("token_type", .string("refresh_token")),
                    ("token_identifier_alg", .string("hash_SHA512_double")),
                    ("token", .string(EventReport.hash(refreshToken))),
                ]))
        } else {
            event["subject"] = .object(
                JSONObject([
                    ("subject_type", .string("iss-sub")), ("iss", .string(Self.issuer)),
                    ("sub", .string(subject ?? GoogleAccount().subject)),
                ]))
        }
        event["reason"] = reason.map { .string($0) }
        return JSONObject([
            ("iss", .string(Self.issuer)), ("aud", .string(audience)), ("iat", .integer(now)),
            ("jti", .string(jti ?? Base64URL.encode(SecureRandom.bytes(count: 16)))),
            ("events", .object(JSONObject([(type.uri, .object(event))]))),
        ])
    }
}

extension Linking {
    /// Sends an event to the registered receiver, or to the linked server if no receiver is registered (RFC
    /// 8935). Throws `.eventNotSent` if the receiver does not want the event, and `.serverMissing` if there
    /// is no server.
    func send(_ event: SentEvent) async throws(EmulatorError) -> ServerClient.Response {
        let url = try receiver(of: event.type)
        let claims = event.claims(for: state.configuration.googleClientID, at: state.now)
        let token = try state.signingKey().sign(claims, type: "secevent+jwt")
        return await client.post(
            .pushedEvent, "Google sends the event \(event.type.rawValue)", url, .token(token))
    }

    private func receiver(of type: SentEventType) throws(EmulatorError) -> String {
        guard let stream = state.update({ $0.events.stream }) else {
            return try state.server().securityEventsURL
        }
        guard stream.isEnabled else {
            throw EmulatorError(.eventNotSent, detail: "the registered receiver is disabled")
        }
        guard type == .verification || stream.events.contains(type.uri) else {
            throw EmulatorError(
                .eventNotSent, detail: "the registered receiver has not requested \(type.rawValue)")
        }
        return stream.url
    }
}
