/// Requirements of a deployment: the issuers, the client IDs, and the difference between clocks.
public struct VerificationPolicy: Sendable {
    /// Apple's issuer. It is a constant, because Apple's discovery document once named another issuer for
    /// some days while the tokens did not change.
    public static let appleIssuer = "https://appleid.apple.com"
    /// In seconds. A longer leeway would make expiration meaningless.
    public static let longestLeeway: Int64 = 300
    /// In seconds. With a clock that is slower by more, every new token is from the future.
    public static let usualLeeway: Int64 = 60

    public let issuers: [String]
    /// The bundle IDs and Services IDs whose tokens are accepted. An empty list accepts no token.
    public let clientIDs: [String]
    /// Seconds, 0 to 300.
    public let leeway: Int64
    public let nonceEncodings: Set<NonceEncoding>

    /// A leeway outside 0...300 becomes the nearest end of the range.
    public init(
        issuers: [String] = [appleIssuer], clientIDs: [String], leeway: Int64 = usualLeeway,
        nonceEncodings: Set<NonceEncoding> = Set(NonceEncoding.allCases)
    ) {
        self.issuers = issuers
        self.clientIDs = clientIDs
        self.leeway = min(max(leeway, 0), Self.longestLeeway)
        self.nonceEncodings = nonceEncodings
    }
}
