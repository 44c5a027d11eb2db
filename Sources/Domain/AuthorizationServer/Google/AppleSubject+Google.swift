public import AppleAccounts

/// The subject of an account without an Apple identity. Apple's subjects have no colon.
extension AppleSubject {
    /// Prefix of the subject of every account that a Google account has made.
    public static let googlePrefix = "google:"

    /// Makes the subject of an account that a Google account makes; `nil` when the `sub` is too long.
    public init?(madeBy googleSubject: String) {
        self.init("\(Self.googlePrefix)\(googleSubject)")
    }

    public var isMadeByGoogle: Bool { rawValue.utf8.starts(with: Self.googlePrefix.utf8) }
}
