/// The platform of an app that attests. Only keys of Macs have a key policy that services check.
public enum AttestPlatform: String, Sendable, CaseIterable, Codable {
    case iOS = "ios"
    case macOS = "macos"
}
