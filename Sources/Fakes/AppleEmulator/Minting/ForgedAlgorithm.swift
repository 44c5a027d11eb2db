import JOSE

/// The algorithms with which the emulator can sign a token. ES256 is missing, because the keys are RSA keys.
public enum ForgedAlgorithm: String, Sendable, CaseIterable {
    case none, RS256, RS384, RS512, HS256, HS384, HS512

    /// True for HS algorithms, which use the PEM of the public key as the secret: a well-known attack.
    var isKeyedWithPublicKey: Bool {
        switch self {
        case .HS256, .HS384, .HS512: true
        case .none, .RS256, .RS384, .RS512: false
        }
    }

    /// `nil` for `none`, which has no signature.
    var hash: HashFunction? {
        switch self {
        case .none: nil
        case .RS256, .HS256: .sha256
        case .RS384, .HS384: .sha384
        case .RS512, .HS512: .sha512
        }
    }

    /// The same algorithm for libjwt.
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
