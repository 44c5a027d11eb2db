import Cryptography
import Encodings
import HTTPTypes
import JOSE
import StrictJSON

/// The checks that both receivers apply.
struct MessageChecks: Sendable {
    /// Maximum body size in bytes.
    static let longestBody = 16 * 1024
    /// JSON limits for an event and for a token's claims.
    static let limits = JSONLimits(depth: 8, members: 64)

    let webhook: WebhookCheck
    let audience: String
    let keys = PublishedKeys()
}

extension EventFacts {
    /// Reads an event in the format of the feed. Returns `nil` for any other JSON.
    init?(_ json: JSONValue, uri: String? = nil) {
        guard let id = Self.word(json["id"]), let type = Self.word(json["type"]) else { return nil }
        (self.id, self.type, self.uri) = (id, type, uri)
        user = Self.word(json["account_id"]) ?? Self.word(json["sub"])
        recordedAt = json["recorded_at"]?.string.flatMap { RFC3339.milliseconds(of: $0) }
    }

    static func word(_ value: JSONValue?) -> String? {
        guard let text = value?.string, (1...255).contains(text.utf8.count), !text.hasControlCharacters else {
            return nil
        }
        return text
    }
}

/// Verifies a webhook as the documentation's page about events requires.
struct WebhookCheck: Sendable {
    /// Maximum difference between a message's timestamp and the clock, in seconds.
    static let tolerance: Int64 = 300
    /// Maximum number of signatures: more than a rotation needs, but few enough to try them all.
    static let mostSignatures = 8

    let codes: [HMACSHA256]

    /// - Parameter now: Seconds since 1970.
    func check(_ fields: HTTPFields, _ body: [UInt8], at now: Int64) throws(MessageRefusal) -> EventFacts {
        guard Self.field("webhook-id", fields).map({ (1...255).contains($0.utf8.count) }) ?? false,
            let id = Self.field("webhook-id", fields), let stamp = Self.field("webhook-timestamp", fields),
            let time = Int64(stamp), (0...253_402_300_799).contains(time),
            let signatures = Self.field("webhook-signature", fields)?.split(separator: " ")
        else {
            throw MessageRefusal(
                .fieldMalformed, "webhook-id, webhook-timestamp and webhook-signature must be there once")
        }
        let message = Array("\(id).\(stamp).".utf8) + body
        let isSigned = signatures.prefix(Self.mostSignatures).contains { signature in
            guard signature.hasPrefix("v1,"), let code = Base64.decode(String(signature.dropFirst(3))) else {
                return false
            }
            return codes.contains { $0.isValid(code, for: message) }
        }
        guard isSigned else {
            throw MessageRefusal(.signatureInvalid, "no signature is by a secret of this webhook")
        }
        guard abs(time - now) <= Self.tolerance else {
            throw MessageRefusal(
                .timestampStale, "webhook-timestamp differs from the clock by more than 5 minutes")
        }
        guard let json = try? JSONValue(parsing: body, limits: MessageChecks.limits),
            let event = EventFacts(json)
        else { throw MessageRefusal(.eventMalformed, "the body must be an event as in the feed") }
        guard event.id.isByteEqual(to: id) else {
            throw MessageRefusal(.idMismatch, "webhook-id must be the id of the event")
        }
        return event
    }

    /// Returns the value of a header; `nil` if it is absent or repeated.
    private static func field(_ name: String, _ fields: HTTPFields) -> String? {
        guard let name = HTTPField.Name(name) else { return nil }
        let values = fields[values: name]
        return values.count == 1 ? values[0] : nil
    }
}

/// Verifies a pushed security event token (RFC 8417, RFC 8935) with the published keys. Shares no code with
/// the signer.
struct PushedTokenCheck: Sendable {
    static let mediaType = "application/secevent+jwt"
    /// Maximum number of seconds that the issuer's clock may be ahead.
    static let leeway: Int64 = 60
    /// Header parameters that change the token's meaning, or let the sender choose the key.
    private static let refusedParameters = ["crit", "b64", "jwk", "jku", "x5u", "x5c"]

    let sender: EventSender
    let audience: String
    let keys: PublishedKeys

    /// - Parameter now: Seconds since 1970.
    func check(_ compact: String, at now: Int64) async throws(MessageRefusal) -> EventFacts {
        guard let segments = JWSSegments(compact: compact),
            let header = (try? JSONValue(parsing: segments.header))?.object,
            let claims = Self.claims(of: segments)
        else { throw MessageRefusal(.tokenMalformed, "the body must be one signed JWT") }
        let type = header["typ"]?.string?.lowercased()
        guard type == "secevent+jwt" || type == Self.mediaType, header["alg"]?.string == "ES256",
            Self.refusedParameters.allSatisfy({ header[$0] == nil }), let keyID = header["kid"]?.string
        else {
            throw MessageRefusal(
                .headerRefused, "the header must have typ secevent+jwt, alg ES256 and kid, and no crit")
        }
        guard let issuer = sender.issuer, let url = sender.keysURL,
            claims["iss"]?.string?.isByteEqual(to: issuer) ?? false
        else { throw MessageRefusal(.issuerMismatch, "iss must be the issuer of the service") }
        let key: ECPublicKey
        switch await keys.key(keyID, at: url) {
        case .found(let found): key = found
        case .unknown: throw MessageRefusal(.keyUnknown, "kid must name a published key")
        case .unavailable: throw MessageRefusal(.keysUnavailable, "the published keys could not be fetched")
        }
        guard key.isValidSignature(segments.signature, for: segments.signingInput[...]) else {
            throw MessageRefusal(.signatureInvalid, "the signature must be by the key that kid names")
        }
        guard Self.audiences(claims["aud"]).contains(where: audience.isByteEqual) else {
            throw MessageRefusal(.audienceMismatch, "aud must name this receiver")
        }
        // Tokens about past events have no expiry time (RFC 8417 §4.6).
        guard let issuedAt = claims["iat"]?.integer, (0...now + Self.leeway).contains(issuedAt),
            claims["exp"] == nil
        else { throw MessageRefusal(.timeRefused, "iat must be there and not in the future, and exp absent") }
        guard let id = EventFacts.word(claims["jti"]), claims["sub_id"]?.object != nil,
            let events = claims["events"]?.object, events.members.count == 1,
            let (uri, content) = events.members.first,
            let json = content["siwa_event"], let event = EventFacts(json, uri: uri)
        else {
            throw MessageRefusal(
                .eventMalformed, "jti, sub_id and events with one event must be there, and siwa_event in it")
        }
        guard event.id.isByteEqual(to: id) else {
            throw MessageRefusal(.idMismatch, "jti must be the id of the event")
        }
        return event
    }

    /// Returns a token's claims for display on the page, without verifying them.
    static func shownClaims(of compact: String) -> String? {
        JWSSegments(compact: compact).flatMap { segments in
            claims(of: segments) == nil ? nil : String(decoding: segments.payload, as: UTF8.self)
        }
    }

    private static func claims(of segments: JWSSegments) -> JSONObject? {
        (try? JSONValue(parsing: segments.payload, limits: MessageChecks.limits))?.object
    }

    private static func audiences(_ value: JSONValue?) -> [String] {
        value?.string.map { [$0] } ?? value?.array?.compactMap(\.string) ?? []
    }
}
