import Crypto
import CryptoExtras
import Foundation
import NIOHTTP1

/// Verifies OAuth access tokens (RFC 9068) of one issuer by siwa's public keys, and keeps the keys.
actor AccessTokens {
    /// A public key, which decides about the algorithm.
    private enum Key {
        case es256(P256.Signing.PublicKey)
        case rs256(_RSA.Signing.PublicKey)

        var algorithm: String {
            switch self {
            case .es256: "ES256"
            case .rs256: "RS256"
            }
        }

        func isValid(_ signature: Data, for message: Data) -> Bool {
            switch self {
            case .es256(let key):
                // The initializer refuses another length than 64 bytes.
                (try? P256.Signing.ECDSASignature(rawRepresentation: signature)).map {
                    key.isValidSignature($0, for: message)
                } ?? false
            case .rs256(let key):
                key.isValidSignature(
                    .init(rawRepresentation: signature), for: SHA256.hash(data: message),
                    padding: .insecurePKCS1v1_5)
            }
        }
    }

    /// Characters. siwa's access tokens have about 700.
    static let longestToken = 16_384
    /// Seconds by which the clocks may differ.
    static let leeway: TimeInterval = 60
    /// Seconds for which a key set is used, and for which it is used while siwa does not respond.
    static let (fresh, stale): (TimeInterval, TimeInterval) = (3_600, 86_400)
    /// Seconds between two requests for keys: anybody can invent key IDs.
    static let (coolDown, pauseAfterFailure): (TimeInterval, TimeInterval) = (60, 5)

    private let transport: Transport
    private let issuer: String
    private var keys: [String: Key] = [:]
    private var fetchedAt = Date.distantPast
    private var triedAt = Date.distantPast
    private var fetch: Task<Void, Never>?

    init(_ transport: Transport, issuer: String) {
        (self.transport, self.issuer) = (transport, issuer)
    }

    /// See ``Siwa/verifyToken(bearer:audience:scopes:)``.
    nonisolated func verify(
        _ token: String, audience: String, scopes: [String]
    ) async throws -> IntrospectionResponse {
        guard token.utf8.count <= Self.longestToken else {
            throw Self.refusal("token_too_large", "A token has at most \(Self.longestToken) characters.")
        }
        let segments = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard segments.count == 3 else { throw Self.malformed("a token has three segments") }
        let header = try Self.object(segments[0])
        let signature = try Self.bytes(segments[2])
        // These change what is signed, or where the key comes from.
        guard header.keys.allSatisfy({ !["crit", "b64", "jwk", "jku", "x5u", "x5c"].contains($0) }) else {
            throw Self.refusal("header_not_allowed", "The header has a parameter that siwa never writes.")
        }
        guard let algorithm = header["alg"]?.string, ["ES256", "RS256"].contains(algorithm) else {
            throw Self.refusal("algorithm_not_allowed", "The algorithm must be ES256 or RS256.")
        }
        // An ID token of the same issuer is no access token.
        guard let type = header["typ"]?.string?.lowercased(), ["at+jwt", "application/at+jwt"].contains(type)
        else { throw Self.refusal("not_an_access_token", "The typ of an access token is at+jwt.") }
        guard let keyID = header["kid"]?.string, (1...64).contains(keyID.unicodeScalars.count) else {
            throw Self.refusal("key_id_invalid", "The kid must be a text of 1 to 64 characters.")
        }
        let key = try await key(keyID)
        // The key decides about the algorithm, and the token cannot choose another one.
        guard key.algorithm == algorithm else {
            throw Self.refusal("algorithm_not_allowed", "The key is for \(key.algorithm).")
        }
        guard key.isValid(signature, for: Data("\(segments[0]).\(segments[1])".utf8)) else {
            throw Self.refusal("signature_invalid", "The signature is not by the key that the kid names.")
        }
        let result = try checked(Self.object(segments[1]), audience: audience)
        try Self.check(result, audience: audience, scopes: scopes)
        return result
    }

    /// The token in the header `Authorization` (RFC 6750 §2.1).
    static func token(of bearer: String?) throws(SiwaError) -> String {
        guard let match = (bearer ?? "").wholeMatch(of: /(?i:bearer) +([A-Za-z0-9._~+\/\-]+=*)/) else {
            throw refusal("token_missing", "The request needs the header Authorization: Bearer TOKEN.")
        }
        return String(match.1)
    }

    static func check(
        _ token: IntrospectionResponse, audience: String, scopes: [String]
    ) throws(SiwaError) {
        guard token.aud == audience else {
            throw refusal("audience_mismatch", "The token is for another API.")
        }
        let missing = Set(scopes).subtracting((token.scope ?? "").components(separatedBy: " "))
        guard missing.isEmpty else {
            throw SiwaError(
                "scope_missing", status: 403,
                detail: "The token lacks the scope \(missing.sorted().joined(separator: " ")).")
        }
    }

    private nonisolated func checked(
        _ claims: [String: JSONValue], audience: String
    ) throws(SiwaError) -> IntrospectionResponse {
        for name in ["iss", "aud", "sub", "client_id", "iat", "exp", "jti"] where claims[name] == nil {
            throw Self.refusal("claim_missing", "The token lacks \(name).")
        }
        guard claims["iss"]?.string == issuer else {
            throw Self.refusal("issuer_mismatch", "The token is of another issuer: check SIWA_ISSUER.")
        }
        // The only audience is a text. An array is not siwa's.
        guard claims["aud"]?.string == audience else {
            throw Self.refusal("audience_mismatch", "The token is for another API.")
        }
        let times = [claims["exp"], claims["iat"], claims["nbf"] ?? .integer(0)].compactMap { $0?.integer }
            .filter { (0..<1 << 53).contains($0) }.map(TimeInterval.init)
        guard times.count == 3, claims["sub"] != "" else {
            throw Self.refusal("claim_malformed", "A claim has another type, or is out of range.")
        }
        let now = transport.clock.now.timeIntervalSince1970
        guard now < times[0] + Self.leeway else {
            throw Self.refusal("token_expired", "The token has expired.")
        }
        guard times[2] <= now + Self.leeway else {
            throw Self.refusal("token_not_yet_valid", "The token is not valid yet.")
        }
        guard times[1] <= now + Self.leeway else {
            throw Self.refusal("issued_in_future", "The token is of the future: check the clock.")
        }
        var members = claims
        (members["active"], members["token_type"]) = (.boolean(true), "Bearer")
        do {
            return try JSONDecoder.siwa.decode(IntrospectionResponse.self, from: .json(members))
        } catch {
            throw Self.refusal("claim_malformed", "A claim has another type, or is out of range.")
        }
    }

    private func key(_ id: String) async throws -> Key {
        while true {
            let now = transport.clock.now
            func isWithin(_ seconds: TimeInterval) -> Bool {
                (0..<seconds).contains(now.timeIntervalSince(fetchedAt))
            }
            if let key = keys[id], isWithin(Self.fresh) { return key }
            if let fetch {
                // One request at a time. A caller with a known key does not wait for it.
                if let key = keys[id], isWithin(Self.stale) { return key }
                await fetch.value
                continue
            }
            let sinceTry = now.timeIntervalSince(triedAt)
            let hasFailed = triedAt != fetchedAt
            if !(0..<(hasFailed ? Self.pauseAfterFailure : Self.coolDown)).contains(sinceTry) {
                triedAt = now
                // A task of its own, because the end of one caller must not end the request of the others.
                let fetch = Task { await fetchKeys(at: now) }
                self.fetch = fetch
                await fetch.value
                continue
            }
            if let key = keys[id], isWithin(Self.stale) { return key }
            guard hasFailed else { throw Self.refusal("unknown_key", "siwa has no key with this kid.") }
            throw SiwaError(
                "keys_unavailable", status: 503, detail: "siwa's keys could not be fetched.",
                retryAfter: max(1, Int((Self.pauseAfterFailure - sinceTry).rounded())))
        }
    }

    private func fetchKeys(at now: Date) async {
        defer { fetch = nil }
        let set = try? await transport.send(
            .init(method: .GET, target: "/oauth/jwks.json", hasKey: false, timeout: .seconds(5), attempts: 1),
            as: JSONValue.self)
        let keys = (set?.object?["keys"]?.array ?? []).compactMap { entry in
            entry.object.flatMap { try? Self.usable($0) }
        }
        // The old keys stay when the response has no usable key.
        guard !keys.isEmpty else { return }
        self.keys = Dictionary(keys) { $1 }
        fetchedAt = now
    }

    /// The ID and the key of an entry, if it is for signatures.
    private static func usable(_ entry: [String: JSONValue]) throws -> (String, Key)? {
        func number(_ name: String) throws -> Data {
            Data(try bytes(entry[name]?.string ?? "").drop { $0 == 0 })
        }
        guard let id = entry["kid"]?.string, entry["use"] == "sig" else { return nil }
        switch (entry["kty"], entry["alg"]) {
        case ("EC", "ES256"):
            guard entry["crv"] == "P-256" else { return nil }
            let point = try ["x", "y"].map(number).reduce(Data()) {
                $0 + Data(count: max(0, 32 - $1.count)) + $1
            }
            return (id, .es256(try P256.Signing.PublicKey(rawRepresentation: point)))
        case ("RSA", "RS256"):
            // 65537 is the only exponent of siwa's keys; with a small one, signatures can be forged.
            guard try number("e") == Data([1, 0, 1]) else { return nil }
            let modulus = try number("n")
            guard modulus.count * 8 - (modulus.first?.leadingZeroBitCount ?? 0) >= 2048 else { return nil }
            return (id, .rs256(try _RSA.Signing.PublicKey(n: modulus, e: Data([1, 0, 1]))))
        default: return nil
        }
    }

    /// Strict base64url (RFC 7515 §2): no padding, no other alphabet, no stray bits.
    private static func bytes(_ segment: String) throws(SiwaError) -> Data {
        let base64 = segment.replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
        guard !segment.isEmpty, !segment.contains(where: { "+/=".contains($0) }),
            let data = Data(base64Encoded: base64 + padding), data.base64EncodedString() == base64 + padding
        else { throw malformed("a segment is not base64url") }
        return data
    }

    private static func object(_ segment: String) throws(SiwaError) -> [String: JSONValue] {
        // Only UTF-8: Foundation would also read other encodings.
        guard let text = String(validating: try bytes(segment), as: UTF8.self),
            let value = try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)),
            let members = value.object
        else { throw malformed("a segment is not a JSON object") }
        return members
    }

    private static func refusal(_ code: String, _ detail: String) -> SiwaError {
        SiwaError(code, status: 401, detail: detail)
    }

    private static func malformed(_ detail: String) -> SiwaError {
        refusal("token_malformed", "Not a signed token: \(detail).")
    }
}
