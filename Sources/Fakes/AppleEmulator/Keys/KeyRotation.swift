/// One step of a key rotation in Apple's order.
public enum KeyRotationStep: Sendable, Equatable {
    /// Publishes a new key, which does not sign yet, so that cached key sets contain the key before its first
    /// use.
    case publish
    /// Starts signing with the new key, in addition to the others.
    case sign(String)
    /// Retires the oldest key.
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

/// Mode in which `/emulator/keys/rotate` changes the signing keys.
public enum KeyRotationMode: String, Sendable, CaseIterable {
    /// Replaces all keys at once, which is the hardest case for clients that cache keys.
    case atOnce = "at_once"
    /// Does one step per request, in Apple's order: publish, sign, retire.
    case apple
}
