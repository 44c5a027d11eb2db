import EmulatorServer
import JOSE
public import StrictJSON

/// Changes that turn a valid token into a forged token. The default changes nothing.
public struct Forgery: Sendable {
    /// Claims to add or replace, of any JSON type.
    public var claims = JSONObject()
    /// Claims to remove.
    public var removedClaims: [String] = []
    /// Header members to add or replace, including `alg` and `kid`.
    public var header = JSONObject()
    /// Header members to remove: `alg`, `kid` or both.
    public var removedHeader: [String] = []
    /// The algorithm that signs the token, and the `alg` in its header unless `header` replaces it.
    public var algorithm = ForgedAlgorithm.RS256
    /// ID of the signing key. An unknown ID is still written to the header, but another key signs.
    public var keyID: String?
    public var signature = SignatureKind.valid

    public init() {}

    /// Returns the forged claims. Replaced claims keep their position, so that nothing else in the token
    /// changes.
    func applied(to honest: JSONObject) -> JSONObject {
        Self.changed(honest, by: claims, without: removedClaims)
    }

    /// Returns the token's header. Apple's header has exactly `kid` and `alg`.
    func header(naming key: String) -> JSONObject {
        let honest = JSONObject([
            ("kid", .string(keyID ?? key)), ("alg", .string(algorithm.rawValue)),
        ])
        return Self.changed(honest, by: header, without: removedHeader)
    }

    /// True if libjwt must write the token, because its header has `typ`, like the tokens of other issuers.
    var isForLibJWT: Bool {
        header["typ"] == .string("JWT") && header["alg"] == nil && header["kid"] == nil
            && removedHeader.isEmpty
    }

    private static func changed(
        _ honest: JSONObject, by members: JSONObject, without names: [String]
    ) -> JSONObject {
        var result = honest
        for (name, value) in members.members { result[name] = value }
        for name in names { result[name] = nil }
        return result
    }
}

/// The kind of signature on a token.
public enum SignatureKind: String, Sendable, CaseIterable {
    case valid
    /// The signature is valid except for one inverted bit.
    case tampered
    /// The signature is valid for the original claims, but the token has the forged claims.
    case otherClaims = "other_claims"
    /// The signature is valid, but was made by a published key other than the key that the header names.
    case otherKey = "other_key"
    /// The signature was made by a key that was never published, but the header names a published key.
    case wrongKey = "wrong_key"
    /// The signature is missing, so the token ends with the last dot.
    case missing
}

/// Algorithms that the emulator can sign with. ES256 is not among them, because the keys are RSA keys.
public enum ForgedAlgorithm: String, Sendable, CaseIterable {
    case none, RS256, RS384, RS512, HS256, HS384, HS512

    /// True for HS algorithms. They use the public key's PEM as the secret, which is a well-known attack.
    var isKeyedWithPublicKey: Bool {
        switch self {
        case .HS256, .HS384, .HS512: true
        case .none, .RS256, .RS384, .RS512: false
        }
    }

    /// Hash function; `nil` for `none`, which has no signature.
    var hash: HashFunction? {
        switch self {
        case .none: nil
        case .RS256, .HS256: .sha256
        case .RS384, .HS384: .sha384
        case .RS512, .HS512: .sha512
        }
    }

    /// libjwt's name for this algorithm.
    var libjwt: JWTSigner.Algorithm {
        switch self {
        case .none: .none
        case .RS256: .RS256
        case .RS384: .RS384
        case .RS512: .RS512
        case .HS256: .HS256
        case .HS384: .HS384
        case .HS512: .HS512
        }
    }
}

extension Forgery {
    /// Refuses a forgery without effect, so that a misspelled name does not silently produce a valid token.
    ///
    /// - Parameters:
    ///   - honest: The claims before they are forged.
    ///   - hasNamedKey: True if `keyID` is the ID of an existing key, which then signs.
    ///
    /// Throws `.memberIneffective` if a member of the forgery has no effect.
    func checkEffect(on honest: JSONObject, hasNamedKey: Bool) throws(EmulatorError) {
        try Self.checkRemoval(
            of: removedClaims, "remove_claims", from: honest, beside: claims, "claims")
        try Self.checkRemoval(
            of: removedHeader, "remove_header", from: Forgery().header(naming: ""), beside: header, "header")
        try checkKey(hasNamedKey: hasNamedKey)
        try checkSignature(honest)
    }

    /// Checks the names to remove. Each name must be present before the forgery, must be listed once, and
    /// must not be added by the forgery.
    static func checkRemoval(
        of names: [String], _ member: String, from honest: JSONObject, beside added: JSONObject,
        _ addition: String
    ) throws(EmulatorError) {
        var rest = honest
        for name in names {
            guard added[name] == nil else {
                throw EmulatorError(
                    .memberIneffective, detail: "\(member): \(addition) sets \(name.prefix(64)) as well")
            }
            guard rest[name] != nil else {
                let there = honest.members.map(\.name).joined(separator: ", ")
                throw EmulatorError(
                    .memberIneffective,
                    detail: "\(member): \(name.prefix(64)) cannot be removed, there are only \(there)")
            }
            rest[name] = nil
        }
    }

    /// Checks the key ID, which must either select the signing key or appear in the header.
    private func checkKey(hasNamedKey: Bool) throws(EmulatorError) {
        guard keyID != nil else { return }
        let isShown = header["kid"] == nil && !removedHeader.contains("kid")
        let chooses = hasNamedKey && algorithm != .none && signature != .wrongKey
        guard isShown || chooses else {
            throw EmulatorError(
                .memberIneffective,
                detail: "kid: has no effect: it names no key, and the header does not contain it")
        }
    }

    private func checkSignature(_ honest: JSONObject) throws(EmulatorError) {
        guard algorithm != .none || signature == .valid else {
            throw EmulatorError(.memberIneffective, detail: "signature: has no effect with alg none")
        }
        guard signature != .otherClaims || applied(to: honest) != honest else {
            throw EmulatorError(
                .memberIneffective,
                detail: "signature: other_claims needs claims or remove_claims that change something")
        }
    }
}
