/// The platform of an app. An attestation does not say it in documented form, so it must be configured.
public enum AppPlatform: String, Sendable, CaseIterable {
    /// Also iPadOS, tvOS, watchOS and visionOS.
    case iOS = "ios"
    /// macOS 27 and later: older versions have no App Attest.
    case macOS = "macos"
}
