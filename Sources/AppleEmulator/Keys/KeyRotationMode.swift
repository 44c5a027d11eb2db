/// How `/emulator/keys/rotate` changes the signing keys.
public enum KeyRotationMode: String, Sendable, CaseIterable {
    /// All keys at once, which is the hardest case for clients that cache them.
    case atOnce = "at_once"
    /// One step per request, in Apple's order: publish, sign, retire.
    case apple
}
