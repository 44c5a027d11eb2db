public import StrictJSON

/// How a token differs from an honest one. The empty forgery changes nothing.
public struct Forgery: Sendable {
    /// Claims to add or to replace, of any JSON type.
    public var claims = JSONObject()
    /// Claims to leave out.
    public var removedClaims: [String] = []
    /// Header members to add or to replace, `alg` and `kid` included.
    public var header = JSONObject()
    /// `alg`, `kid` or both.
    public var removedHeader: [String] = []
    /// What the token is really signed with, and what its header says unless `header` lies.
    public var algorithm = ForgedAlgorithm.RS256
    /// Names the signing key. An ID that no key has is written into the header, and another key signs.
    public var keyID: String?
    public var signature = SignatureKind.valid

    public init() {}

    /// Replaced claims stay where they are, so that nothing else of the token changes.
    func applied(to honest: JSONObject) -> JSONObject {
        Self.changed(honest, by: claims, without: removedClaims)
    }

    /// The header under which `key` signs: Apple's own is exactly `kid` and `alg`.
    func header(naming key: String) -> JSONObject {
        let honest = JSONObject([
            ("kid", .string(keyID ?? key)), ("alg", .string(algorithm.rawValue)),
        ])
        return Self.changed(honest, by: header, without: removedHeader)
    }

    /// Whether libjwt can write the token that is asked for: one with a `typ`, as other issuers' tokens have it.
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
