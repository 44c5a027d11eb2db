/// A link between a Google account and an account of the app, as the fake Google has it.
public struct WorldLink: Sendable, Equatable {
    public let id: String
    /// Such as "browser".
    public let mode: String
    /// Such as "linked"; with the error of a link that failed.
    public let state: String
    public let isLinked: Bool
    public let scope: String?
    /// The account of the app, once Google knows it.
    public let account: String?
    /// The end of the access token, in milliseconds since 1970; `nil` without a token.
    public let expiresAt: Int64?
    public let hasRefreshToken: Bool
    /// The answer to the last question if the access token is good.
    public let isActive: Bool?

    public init(
        id: String, mode: String, state: String, isLinked: Bool, scope: String?, account: String?,
        expiresAt: Int64?, hasRefreshToken: Bool, isActive: Bool?
    ) {
        (self.id, self.mode, self.state, self.isLinked) = (id, mode, state, isLinked)
        (self.scope, self.account, self.expiresAt) = (scope, account, expiresAt)
        (self.hasRefreshToken, self.isActive) = (hasRefreshToken, isActive)
    }
}

/// A use of a link by the fake Google. The raw value is that of its button.
public enum WorldLinkUse: String, Sendable, CaseIterable {
    /// Gets a new access token.
    case refresh
    /// Calls the app's API, which asks if the access token is good.
    case call
    /// The user unlinks in the Google app.
    case unlink

    var title: String {
        switch self {
        case .refresh: "Refresh"
        case .call: "Use the access token"
        case .unlink: "Unlink at Google"
        }
    }
}

/// A report of an event that the fake Google has taken.
public struct WorldReport: Sendable, Equatable {
    public let type: String
    /// Milliseconds since 1970.
    public let at: Int64
    /// `nil` when Google does not know the token.
    public let link: String?
    public let deliveries: Int

    public init(type: String, at: Int64, link: String?, deliveries: Int) {
        (self.type, self.at, self.link, self.deliveries) = (type, at, link, deliveries)
    }
}
