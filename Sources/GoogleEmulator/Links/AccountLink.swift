/// A link between a Google account and an account of the app, or a failed attempt to make one.
public struct AccountLink: Sendable, Equatable {
    /// How the person came to the link.
    public enum Mode: String, Sendable, CaseIterable {
        case browser
        case appFlip = "app_flip"
        case streamlined
    }

    public enum Status: Sendable, Equatable {
        case linked
        /// `error` of the server's answer, or of the token endpoint.
        case failed(error: String)
        /// The person unlinked in the Google app.
        case unlinkedByGoogle
        /// The server's security event said that the refresh token has ended.
        case unlinkedByService
        /// The token endpoint answered `invalid_grant`.
        case refused

        var word: String {
            switch self {
            case .linked: "linked"
            case .failed: "failed"
            case .unlinkedByGoogle: "unlinked_by_google"
            case .unlinkedByService: "unlinked_by_service"
            case .refused: "refused"
            }
        }
    }

    public let id: String
    public let mode: Mode
    public internal(set) var status: Status
    /// The Google account: `sub` of the ID token of streamlined linking.
    public internal(set) var subject: String?
    public internal(set) var scope: String?
    public internal(set) var accessToken: String?
    /// Seconds since 1970.
    public internal(set) var expiresAt: Int64?
    public internal(set) var refreshToken: String?
    /// What the app's API said of the access token when it was last called.
    public internal(set) var isActive: Bool?

    /// What Google does after an error of App Flip: some are recovered from in the browser.
    public var goesOnInBrowser: Bool {
        guard case .failed(let error) = status, mode == .appFlip else { return false }
        return error == "cancelled" || error == "invalid_request"
    }
}
