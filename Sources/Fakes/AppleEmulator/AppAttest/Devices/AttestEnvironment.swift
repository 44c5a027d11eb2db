/// The environment of App Attest in which a key is attested.
public enum AttestEnvironment: String, Sendable, CaseIterable, Codable {
    case development, production

    var other: AttestEnvironment {
        switch self {
        case .development: .production
        case .production: .development
        }
    }

    /// 16 bytes in the authenticator data: ASCII, padded with zeros.
    var aaguid: [UInt8] {
        switch self {
        case .development: Array("appattestdevelop".utf8)
        case .production: Array("appattest".utf8) + [UInt8](repeating: 0, count: 7)
        }
    }
}
