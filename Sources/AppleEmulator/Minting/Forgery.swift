public import JOSE

/// How a token differs from an honest one. The empty forgery changes nothing.
public struct Forgery: Sendable {
    /// Claims to add or to replace, of any JSON type.
    public var claims = JSONObject()
    /// Claims to leave out, also of the honest ones.
    public var removedClaims: [String] = []
    /// Header members to add or to replace, `alg` and `kid` included.
    public var header = JSONObject()
    public var removedHeader: [String] = []
    /// What the token is really signed with, and what its header says unless `header` lies.
    public var algorithm = ForgedAlgorithm.RS256
    /// Names the signing key. An ID that no key has is written into the header, and another key signs.
    public var keyID: String?
    public var signature = SignatureKind.valid

    public init() {}

    func applied(to honest: JSONObject) -> JSONObject {
        var result = honest
        for (name, value) in claims.members { result[name] = value }
        for name in removedClaims { result[name] = nil }
        return result
    }
}
