/// What a deployment accepts: whose tokens, for whom, and how far clocks may differ.
public struct VerificationPolicy: Sendable {
    /// Apple's issuer. Discovery once changed it for some days while tokens kept it, so it is a constant.
    public static let appleIssuer = "https://appleid.apple.com"
    /// Seconds. A longer leeway would make expiry meaningless.
    public static let longestLeeway: Int64 = 300

    public let issuers: [String]
    /// The bundle IDs and Services IDs that this service answers for. Empty accepts nothing.
    public let clientIDs: [String]
    /// Seconds, 0 to 300.
    public let leeway: Int64
    public let nonceEncodings: Set<NonceEncoding>

    /// A leeway outside 0...300 becomes the nearest end.
    public init(
        issuers: [String] = [appleIssuer], clientIDs: [String], leeway: Int64 = 60,
        nonceEncodings: Set<NonceEncoding> = Set(NonceEncoding.allCases)
    ) {
        self.issuers = issuers
        self.clientIDs = clientIDs
        self.leeway = min(max(leeway, 0), Self.longestLeeway)
        self.nonceEncodings = nonceEncodings
    }
}
