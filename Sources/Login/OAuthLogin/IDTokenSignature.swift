import Encodings
import JOSE
import StrictJSON

/// Verifies the signature of an ID token with the server's key set.
///
/// OpenID Connect Core §3.1.3.7, rule 6, lets a client that receives the token directly from the token
/// endpoint rely on TLS instead. An algorithm that is not implemented here is therefore accepted and
/// reported. A signature that can be verified must be valid.
enum IDTokenSignature {
    enum Verdict: Equatable {
        case verified
        /// The token is trusted because of TLS alone.
        case unchecked
    }

    /// True if the signature is verified, which needs the key set.
    static func isVerifiable(_ token: IDToken) -> Bool { ["RS256", "ES256"].contains(token.algorithm) }

    /// Throws `.idTokenRefused` for a wrong signature, for an unknown key, and for `none`.
    static func check(_ token: IDToken, keySet: [UInt8]) throws(LoginError) -> Verdict {
        guard token.algorithm.lowercased() != "none", !token.segments.signature.isEmpty else {
            throw LoginError(.idTokenRefused, "the ID token is refused: it has no signature")
        }
        let isRight: Bool
        switch token.algorithm {
        case "RS256":
            isRight = try rsaKeys(for: token, in: keySet).contains { key in
                key.isValidSignature(token.segments.signature, for: token.segments.signingInput[...])
            }
        case "ES256":
            isRight = try ecKeys(for: token, in: keySet).contains { key in
                key.isValidSignature(token.segments.signature, for: token.segments.signingInput[...])
            }
        default: return .unchecked
        }
        guard isRight else {
            throw LoginError(
                .idTokenRefused, "the ID token is refused: no key of the server's key set has signed it")
        }
        return .verified
    }

    private static func rsaKeys(for token: IDToken, in keySet: [UInt8]) throws(LoginError) -> [RSAPublicKey] {
        let set: JSONWebKeySet
        do throws(JOSEError) {
            set = try JSONWebKeySet(parsing: keySet)
        } catch {
            throw LoginError(.idTokenRefused, "the server's key set cannot be read")
        }
        let ids = token.keyID.map { [$0] } ?? set.keyIDs
        return ids.compactMap { set.key(for: $0) }
    }

    private static func ecKeys(for token: IDToken, in keySet: [UInt8]) throws(LoginError) -> [ECPublicKey] {
        guard let keys = try? JSONValue(parsing: keySet), let entries = keys["keys"]?.array else {
            throw LoginError(.idTokenRefused, "the server's key set cannot be read")
        }
        return entries.compactMap { entry in
            guard entry["kty"]?.string == "EC", entry["crv"]?.string == "P-256",
                entry["use"] == nil || entry["use"]?.string == "sig",
                token.keyID == nil || entry["kid"]?.string?.isByteEqual(to: token.keyID ?? "") == true,
                let x = entry["x"]?.string.flatMap({ Base64URL.decode($0) }),
                let y = entry["y"]?.string.flatMap({ Base64URL.decode($0) })
            else { return nil }
            return try? ECPublicKey(x: x, y: y)
        }
    }
}
