/// A device code (RFC 8628 §3.2): `siwa_dc_` and 256 random bits in base64url. After the consent its digest is also
/// the digest of the authorization code.
public typealias DeviceCodeText = CodeText<DeviceCodeKind>

public enum DeviceCodeKind: CodeKind {
    public static let prefix = "siwa_dc_"
    public static let name = "device code"
}
