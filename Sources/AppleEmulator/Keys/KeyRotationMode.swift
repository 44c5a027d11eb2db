/// How `/emulator/keys/rotate` changes the signing keys.
public enum KeyRotationMode: String, Sendable, CaseIterable {
    /// All of them at once: the hardest case for whoever caches them.
    case atOnce = "at_once"
    /// One step for each call, in Apple's order: publish, sign, retire.
    case apple
}
