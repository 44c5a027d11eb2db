import Encodings
import StrictJSON

/// One entry of a key set that may verify identity tokens (RFC 7517 §4, RFC 7518 §6.3.1).
struct JSONWebKey: Sendable {
    let keyID: String
    let publicKey: RSAPublicKey

    /// Returns the reason when the entry must be skipped. A set may contain entries other than Apple's RSA
    /// keys.
    static func parse(_ value: JSONValue) -> Result<JSONWebKey, Refusal> {
        guard case .object(let object) = value else { return .failure(Refusal(nil, .malformed)) }
        let keyID = object["kid"]?.string
        guard let type = object["kty"]?.string else { return .failure(Refusal(keyID, .malformed)) }
        guard type.isByteEqual(to: "RSA") else { return .failure(Refusal(keyID, .otherType)) }
        if let use = object["use"], use != .string("sig") { return .failure(Refusal(keyID, .otherUse)) }
        if let operations = object["key_ops"] {
            guard let operations = JSONWebKey.operations(operations) else {
                return .failure(Refusal(keyID, .malformed))
            }
            guard operations.contains(where: { $0.isByteEqual(to: "verify") }) else {
                return .failure(Refusal(keyID, .otherOperations))
            }
        }
        if let algorithm = object["alg"], algorithm != .string("RS256") {
            return .failure(Refusal(keyID, .otherAlgorithm))
        }
        guard let keyID, (1...JOSEHeader.longestKeyID).contains(keyID.unicodeScalars.count) else {
            return .failure(Refusal(keyID, .keyIDInvalid))
        }
        guard let modulus = object["n"]?.string.flatMap({ Base64URL.decode($0) }),
            let exponent = object["e"]?.string.flatMap({ Base64URL.decode($0) })
        else {
            return .failure(Refusal(keyID, .malformed))
        }
        do {
            let key = try RSAPublicKey(modulus: modulus, exponent: exponent)
            return .success(JSONWebKey(keyID: keyID, publicKey: key))
        } catch {
            return .failure(Refusal(keyID, .unsafeNumbers))
        }
    }

    /// The operations of the key (RFC 7517 §4.3): an array of strings without duplicates. Returns `nil` for
    /// anything else.
    private static func operations(_ value: JSONValue) -> [String]? {
        guard let elements = value.array else { return nil }
        var operations: [String] = []
        for element in elements {
            guard let operation = element.string,
                !operations.contains(where: { $0.isByteEqual(to: operation) })
            else { return nil }
            operations.append(operation)
        }
        return operations
    }

    struct Refusal: Error {
        let skipped: SkippedKey

        init(_ keyID: String?, _ reason: SkippedKey.Reason) {
            skipped = SkippedKey(keyID: keyID, reason: reason)
        }
    }
}
