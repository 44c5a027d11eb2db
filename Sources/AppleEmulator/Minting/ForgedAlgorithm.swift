import JOSE

/// What a token can be signed with by the RSA keys that the emulator has. ES256 would need another kind of
/// key.
public enum ForgedAlgorithm: String, Sendable, CaseIterable {
    case none, RS256, RS384, RS512, HS256, HS384, HS512

    /// HS algorithms take the public key's PEM as the secret: the classic attack.
    var isKeyedWithPublicKey: Bool {
        switch self {
        case .HS256, .HS384, .HS512: true
        case .none, .RS256, .RS384, .RS512: false
        }
    }

    /// `nil` for `none`, which signs nothing.
    var hash: HashFunction? {
        switch self {
        case .none: nil
        case .RS256, .HS256: .sha256
        case .RS384, .HS384: .sha384
        case .RS512, .HS512: .sha512
        }
    }

    /// The same in libjwt's words.
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
