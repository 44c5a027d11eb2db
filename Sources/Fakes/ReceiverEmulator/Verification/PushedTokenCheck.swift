import Encodings
import JOSE
import StrictJSON

/// Verifies a pushed security event token (RFC 8417, RFC 8935) with the published keys, by code that is not shared
/// with the signer.
struct PushedTokenCheck: Sendable {
    static let mediaType = "application/secevent+jwt"
    /// Seconds by which the issuer's clock may be ahead.
    static let leeway: Int64 = 60
    /// Parameters that change how a token is read, or name a key that the sender chooses.
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
        // Tokens about the past do not expire (RFC 8417 §4.6).
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

    /// The claims of a token, for the page. Nothing is verified.
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
