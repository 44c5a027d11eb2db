/// An authorization code (RFC 6749 §4.1.2): `siwa_ac_` and 256 random bits in base64url.
public typealias AuthorizationCodeText = CodeText<AuthorizationCodeKind>

public enum AuthorizationCodeKind: CodeKind {
    public static let prefix = "siwa_ac_"
    public static let name = "authorization code"
}
