public import StrictJSON

/// Differences of a token from a valid token. The default changes nothing.
public struct Forgery: Sendable {
    /// Claims to add or to replace, of any JSON type.
    public var claims = JSONObject()
    /// Claims to remove.
    public var removedClaims: [String] = []
    /// Header members to add or to replace, `alg` and `kid` included.
    public var header = JSONObject()
    /// `alg`, `kid` or both.
    public var removedHeader: [String] = []
    /// The algorithm that signs the token, and the `alg` of its header unless `header` replaces it.
    public var algorithm = ForgedAlgorithm.RS256
    /// The ID of the signing key. An unknown ID is written to the header, and another key signs.
    public var keyID: String?
    public var signature = SignatureKind.valid

    public init() {}

    /// Returns the forged claims. Replaced claims keep their position, so that nothing else in the token
    /// changes.
    func applied(to honest: JSONObject) -> JSONObject {
        Self.changed(honest, by: claims, without: removedClaims)
    }

    /// The header of the token. Apple's header has exactly `kid` and `alg`.
    func header(naming key: String) -> JSONObject {
        let honest = JSONObject([
            ("kid", .string(keyID ?? key)), ("alg", .string(algorithm.rawValue)),
        ])
        return Self.changed(honest, by: header, without: removedHeader)
    }

    /// True if libjwt must write the token, because its header has `typ`, like tokens of other issuers.
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

/// Kind of a token's signature.
public enum SignatureKind: String, Sendable, CaseIterable {
    case valid
    /// A valid signature with one bit inverted.
    case tampered
    /// The valid signature of the original claims, with the forged claims.
    case otherClaims = "other_claims"
    /// A valid signature by another published key than the header names.
    case otherKey = "other_key"
    /// A signature by a key that was never published, with the ID of a published key.
    case wrongKey = "wrong_key"
    /// No signature: the token ends with the last dot.
    case missing
}
