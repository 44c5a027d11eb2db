public import AppleAccounts

/// The subject of an account that no Apple identity belongs to. Apple's subjects have no colon.
extension AppleSubject {
    /// Begins the subject of every account that a Google account has made.
    public static let googlePrefix = "google:"

    /// The subject of the account that a Google account makes; `nil` when its `sub` is too long.
    public init?(madeBy googleSubject: String) {
        self.init("\(Self.googlePrefix)\(googleSubject)")
    }

    public var isMadeByGoogle: Bool { rawValue.utf8.starts(with: Self.googlePrefix.utf8) }
}
