/// The unchecked `oauth` section of the configuration file.
///
/// Members that are missing from the file are `nil`.
public struct OAuthDraft: Sendable {
    public var issuer: String?
    /// `session_lifetime`, in seconds
    public var sessionLifetime: Int64?
    public var scopes: [ScopeDraft]
    public var clients: [ClientDraft]
    public var allowsAccountsWithoutApple: Bool?
    /// `refresh_retry_window`, in seconds
    public var refreshRetryWindow: Int64?
    /// `native_refresh_token_limit`: maximum number of refresh tokens per account, over all native clients
    public var nativeRefreshTokenLimit: Int64?
    /// `texts_directory`: directory with one text file per additional language
    public var textsDirectory: String?
    /// `name` in the entries of `teams.apps`, by the app's primary client ID, then by language tag
    public var appNames: [String: [String: String]] = [:]

    public init(
        issuer: String? = nil, sessionLifetime: Int64? = nil, scopes: [ScopeDraft] = [],
        clients: [ClientDraft] = [], allowsAccountsWithoutApple: Bool? = nil
    ) {
        self.issuer = issuer
        self.sessionLifetime = sessionLifetime
        self.scopes = scopes
        self.clients = clients
        self.allowsAccountsWithoutApple = allowsAccountsWithoutApple
    }
}

extension OAuthDraft: SectionDraft {
    public static let empty = OAuthDraft()

    /// The members of the `oauth` section.
    public static let members: [DraftMember<OAuthDraft>] = [
        DraftMember("issuer", .optionalText(\.issuer)),
        sessionLifetime,
        DraftMember("scopes", sections: DraftList(\OAuthDraft.scopes), each: "scope"),
        DraftMember("clients", sections: DraftList(\OAuthDraft.clients), each: "client"),
        allowsAccountsWithoutApple, refreshRetryWindow, nativeRefreshTokenLimit,
        DraftMember("texts_directory", .optionalText(\.textsDirectory)),
    ]

    static let sessionLifetime = DraftMember<OAuthDraft>(
        "session_lifetime", .number(\.sessionLifetime, 1...86_400, .seconds, default: 600))
    static let allowsAccountsWithoutApple = DraftMember<OAuthDraft>(
        "allow_accounts_without_apple", .flag(\.allowsAccountsWithoutApple, default: false))
    static let refreshRetryWindow = DraftMember<OAuthDraft>(
        "refresh_retry_window", .number(\.refreshRetryWindow, 0...600, .seconds, default: 60))
    static let nativeRefreshTokenLimit = DraftMember<OAuthDraft>(
        "native_refresh_token_limit",
        .number(\.nativeRefreshTokenLimit, 1...200, .refreshTokens, default: 50))
}

/// An entry of `oauth.scopes`.
public struct ScopeDraft: Sendable {
    public var name: String
    /// Texts by language tag.
    public var text: [String: String]
    public var isOptional: Bool?

    public init(name: String, text: [String: String] = [:], isOptional: Bool? = nil) {
        self.name = name
        self.text = text
        self.isOptional = isOptional
    }
}

extension ScopeDraft: SectionDraft {
    public static let empty = ScopeDraft(name: "")

    /// The members of a scope's entry in `oauth.scopes`.
    public static let members: [DraftMember<ScopeDraft>] = [
        DraftMember("name", .text(\.name)), DraftMember("text", .texts(\.text)), isOptional,
    ]

    static let isOptional = DraftMember<ScopeDraft>("optional", .flag(\.isOptional, default: false))
}
