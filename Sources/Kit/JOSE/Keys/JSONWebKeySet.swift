import Encodings
import StrictJSON

/// The usable keys of a JSON Web Key Set (RFC 7517 §5). Each key is parsed once.
///
/// A set may contain EC keys, unknown key types and other values. The parser skips the entries that it cannot
/// use, and records the reasons in `skipped`. If two different usable keys have the same `kid`, that `kid` is
/// unusable, because it is ambiguous.
public struct JSONWebKeySet: Sendable {
    private let keys: [JSONWebKey]
    public let skipped: [SkippedKey]

    public var isEmpty: Bool { keys.isEmpty }
    public var count: Int { keys.count }
    public var keyIDs: [String] { keys.map(\.keyID) }

    /// Parses a key set. Throws `.keySetMalformed` for any other document. A set without any usable key is
    /// valid, and becomes an empty set.
    public init(parsing bytes: [UInt8]) throws(JOSEError) {
        let document: JSONValue
        do throws(JSONError) {
            document = try JSONValue(parsing: bytes)
        } catch {
            throw JOSEError(.keySetMalformed, detail: error.detail)
        }
        guard let entries = document["keys"]?.array else {
            throw JOSEError(.keySetMalformed, detail: "no keys array")
        }
        var usable: [JSONWebKey] = []
        var skipped: [SkippedKey] = []
        for entry in entries {
            switch JSONWebKey.parse(entry) {
            case .success(let key): usable.append(key)
            case .failure(let refusal): skipped.append(refusal.skipped)
            }
        }
        var keys: [JSONWebKey] = []
        for key in usable {
            let namesakes = usable.filter { $0.keyID.isByteEqual(to: key.keyID) }
            if namesakes.contains(where: { $0.publicKey.modulus != key.publicKey.modulus }) {
                skipped.append(SkippedKey(keyID: key.keyID, reason: .ambiguous))
            } else if !keys.contains(where: { $0.keyID.isByteEqual(to: key.keyID) }) {
                keys.append(key)
            }
        }
        self.keys = keys
        self.skipped = skipped
    }

    /// Returns the key whose `kid` has exactly these bytes; `nil` if there is none. A set has few keys, so
    /// the search is linear and allocates nothing.
    public func key(for keyID: String) -> RSAPublicKey? {
        for key in keys where key.keyID.isByteEqual(to: keyID) { return key.publicKey }
        return nil
    }
}

/// A key-set entry that the service does not use, with the reason.
public struct SkippedKey: Sendable, Equatable {
    public enum Reason: String, Sendable, CaseIterable {
        /// The entry is not an object, has a member of the wrong JSON type, or names an operation twice in
        /// `key_ops`.
        case malformed
        /// `kty` is not RSA.
        case otherType = "other_type"
        /// `use` is present, but is not `sig`.
        case otherUse = "other_use"
        /// `key_ops` is present, but lacks `verify`.
        case otherOperations = "other_operations"
        /// `alg` is present, but is not `RS256`.
        case otherAlgorithm = "other_algorithm"
        /// `kid` is absent, empty or longer than 64 characters.
        case keyIDInvalid = "key_id_invalid"
        /// The modulus is even, or has fewer than 2048 or more than 4096 bits, or the exponent is not 65537.
        case unsafeNumbers = "unsafe_numbers"
        /// Another usable key in the set has the same `kid`.
        case ambiguous
    }

    public let keyID: String?
    public let reason: Reason
}

/// A key-set entry that may verify identity tokens (RFC 7517 §4, RFC 7518 §6.3.1).
struct JSONWebKey: Sendable {
    let keyID: String
    let publicKey: RSAPublicKey

    /// Parses an entry, or returns the reason the parser must skip it. A set may contain entries other than
    /// Apple's RSA keys.
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

    /// Returns the key operations (RFC 7517 §4.3) from an array of strings without duplicates, or `nil` for
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
