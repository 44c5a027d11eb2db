/// One step of a rotation as Apple rotates its keys.
public enum KeyRotationStep: Sendable, Equatable {
    /// A new key is shown, so that key sets which are cached have it before it is needed. It signs nothing yet.
    case publish
    /// The key that was shown begins to sign, beside the others.
    case sign(String)
    /// The oldest key goes.
    case retire(String)

    /// The word for it in the control API.
    var word: String {
        switch self {
        case .publish: "publish"
        case .sign: "sign"
        case .retire: "retire"
        }
    }
}
