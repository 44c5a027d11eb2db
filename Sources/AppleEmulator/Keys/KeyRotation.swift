/// One step of a key rotation in Apple's order.
public enum KeyRotationStep: Sendable, Equatable {
    /// A new key is published but does not sign yet, so that cached key sets contain it before it is used.
    case publish
    /// The new key begins to sign, in addition to the others.
    case sign(String)
    /// The oldest key is retired.
    case retire(String)

    /// The name in the control API.
    var word: String {
        switch self {
        case .publish: "publish"
        case .sign: "sign"
        case .retire: "retire"
        }
    }
}

/// How `/emulator/keys/rotate` changes the signing keys.
public enum KeyRotationMode: String, Sendable, CaseIterable {
    /// All keys at once, which is the hardest case for clients that cache them.
    case atOnce = "at_once"
    /// One step per request, in Apple's order: publish, sign, retire.
    case apple
}
