public import Cryptography

/// An app's identity: its team ID and bundle ID.
///
/// Very old apps have a prefix that is not their team ID; for these, use the prefix as the team ID.
public struct AppID: Sendable, Hashable {
    public let teamID: String
    public let bundleID: String
    /// SHA-256 of the text, which is the RP ID hash in the app's objects.
    public let digest: SHA256Digest

    /// The app ID in the form `TEAM.bundle.id`.
    public var text: String { "\(teamID).\(bundleID)" }

    /// Returns `nil` unless the team ID has 10 capital letters and digits, and the bundle ID has 1 to 155
    /// letters, digits, hyphens, underscores and dots. So a bundle ID with `*` is refused too, because
    /// attestations come from a single app, not a group of apps.
    public init?(teamID: String, bundleID: String) {
        guard teamID.utf8.count == 10, teamID.utf8.allSatisfy(Self.isCapitalOrDigit),
            (1...155).contains(bundleID.utf8.count), bundleID.utf8.allSatisfy(Self.isOfBundleID)
        else { return nil }
        (self.teamID, self.bundleID) = (teamID, bundleID)
        digest = SHA256Digest.hash("\(teamID).\(bundleID)")
    }

    /// Parses the form `TEAM.bundle.id`. Returns `nil` for text in any other form.
    public init?(text: String) {
        guard let dot = text.firstIndex(of: ".") else { return nil }
        self.init(teamID: String(text[..<dot]), bundleID: String(text[text.index(after: dot)...]))
    }

    private static func isCapitalOrDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func isOfBundleID(_ byte: UInt8) -> Bool {
        isCapitalOrDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
    }
}

/// An app's platform. It must be configured, because attestations do not state it in a documented form.
public enum AppPlatform: String, Sendable, CaseIterable {
    /// iOS, iPadOS, tvOS, watchOS and visionOS.
    case iOS = "ios"
    /// macOS 27 and later. Older versions lack App Attest.
    case macOS = "macos"
}

/// The App Attest environment that a key was attested in.
///
/// Builds that run from Xcode use development unless their entitlement specifies production. All
/// TestFlight, App Store and enterprise builds use production.
public enum AttestationEnvironment: String, Sendable, CaseIterable {
    case development
    case production

    /// The AAGUID: 16 bytes of ASCII, padded with zeros.
    var aaguid: [UInt8] {
        switch self {
        case .development: Array("appattestdevelop".utf8)
        case .production: Array("appattest".utf8) + [UInt8](repeating: 0, count: 7)
        }
    }

    /// Returns `nil` if the AAGUID belongs to neither environment.
    init?(aaguid: ArraySlice<UInt8>) {
        guard let match = Self.allCases.first(where: { $0.aaguid.elementsEqual(aaguid) }) else { return nil }
        self = match
    }
}
