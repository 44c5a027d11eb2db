public import AppleAccounts
public import AuthorizationServer
public import Cryptography
import Encodings

extension OAuthClientID: ExpressibleByStringInterpolation {
    public init(stringLiteral text: String) {
        guard let name = OAuthClientID(text) else { preconditionFailure("not a client: \(text)") }
        self = name
    }
}

/// A refresh token of the tests: the numbers that its text follows from.
public struct SampleToken: Sendable, Hashable {
    public let family: UInt64
    /// Number of the first token. The token that the samples issue has 0; all others are invented.
    private let first: Int
    /// Numbers of the salts of the exchanges that lead from the first token to this token.
    private let salts: [Int]

    public init(family: UInt64, generation: UInt32 = 0, variant: Int = 0) {
        (first, salts) =
            generation == 0
            ? (variant, []) : (0, Array(repeating: 0, count: Int(generation) - 1) + [variant])
        self.family = family
    }

    private init(family: UInt64, first: Int, salts: [Int]) {
        (self.family, self.first, self.salts) = (family, first, salts)
    }

    public var generation: UInt32 { UInt32(salts.count) }
    public var digest: SHA256Digest { text.digest }

    public var text: RefreshTokenText {
        let first = RefreshTokenText(
            familyID: .sample(family),
            familySecret: Array(SHA256Digest.hash("family-secret-\(family)").prefix(16)), generation: 0,
            secret: SHA256Digest.hash("token-\(family)-\(first)").bytes)
        return salts.reduce(first) { $0.successor(salt: Self.salt($1)) ?? $0 }
    }

    public func new(forGoogle: Bool = false) -> NewRefreshToken { text.newToken(forGoogle: forGoogle) }

    public var doubleSHA512: SHA512Digest { text.doubleSHA512 }

    /// The successor by an exchange with the salt of this number.
    public func next(_ salt: Int = 0) -> SampleToken {
        SampleToken(family: family, first: first, salts: salts + [salt])
    }

    public static func salt(_ number: Int) -> [UInt8] { SHA256Digest.hash("salt-\(number)").bytes }

    /// A text that names the token family of this number and does not have its secret.
    public static func forged(family: UInt64) -> RefreshTokenText {
        RefreshTokenText(
            familyID: .sample(family), familySecret: Array(repeating: 9, count: 16), generation: 0,
            secret: SHA256Digest.hash("token-\(family)-0").bytes)
    }
}

extension ScopeSet {
    /// All scopes of the samples.
    public static let sample = ScopeSet(
        ScopeToken.builtIn + ["devices", "trace-scope"].compactMap { ScopeToken($0) })
}

extension AuthorizeCommand {
    /// Makes a command whose code has the digest of `code-` and its number. A new grant has the same number.
    public static func sample(
        _ number: UInt64 = 1, account: AccountID, client: OAuthClientID = "phone",
        app: ClientID = "com.example.app", redirectURI: String = "com.example.app:/back",
        challenge: CodeRecord.StoredChallenge? = nil,
        scope: String = "openid offline_access", nonce: String? = "n-1",
        authenticatedAt: Moment = 1_000_000, authenticatedAfter: Moment? = nil,
        at moment: Moment = 2_000_000
    ) -> AuthorizeCommand {
        AuthorizeCommand(
            accountID: account, newGrantID: GrantID(.sample(number)), oauthClientID: client, clientID: app,
            codeDigest: .hash("code-\(number)"), redirectURI: redirectURI, challenge: challenge,
            scope: scope, nonce: nonce, authenticatedAt: authenticatedAt,
            authenticatedAfter: authenticatedAfter, moment: moment,
            expiresAt: moment.advanced(byMilliseconds: 600_000))
    }
}

extension RedeemCommand {
    /// Makes a command in which a code gives the token family of the same number.
    public static func sample(
        _ number: UInt64 = 1, client: OAuthClientID = "phone", redirectURI: String = "com.example.app:/back",
        verifier: String? = nil, clientScopes: ScopeSet = .sample, isNative: Bool = true,
        family: UInt64? = nil, hasRefreshToken: Bool = true,
        needsOfflineAccess: Bool = false, forGoogle: Bool = false, expiresAt: Moment = 900_000_000,
        limits: FamilyLimits = FamilyLimits(perClient: 10, perAccount: 50), at moment: Moment = 2_010_000
    ) -> RedeemCommand {
        RedeemCommand(
            codeDigest: .hash("code-\(number)"), oauthClientID: client, redirectURI: redirectURI,
            codeVerifier: verifier, clientScopes: clientScopes, newFamilyID: .sample(family ?? number),
            isNative: isNative,
            refreshToken: hasRefreshToken
                ? SampleToken(family: family ?? number).new(forGoogle: forGoogle) : nil,
            needsOfflineAccess: needsOfflineAccess, familyExpiresAt: expiresAt,
            accessTokenExpiresAt: moment.advanced(byMilliseconds: 3_600_000), limits: limits,
            moment: moment)
    }
}

extension RefreshCommand {
    /// - Parameter salt: Number of the salt with which the token is exchanged if this is the first exchange; `nil`
    ///   without rotation.
    public static func sample(
        _ token: SampleToken = SampleToken(family: 1), client: OAuthClientID = "phone", salt: Int? = 0,
        retryWindow: Int64 = 60_000, scope: String? = nil, clientScopes: ScopeSet = .sample,
        expiresAt: Moment = 900_000_000,
        longestLine: Int64? = nil, at moment: Moment = 2_100_000
    ) -> RefreshCommand {
        RefreshCommand(
            oauthClientID: client, presented: token.text,
            rotation: salt.map { Rotation(salt: SampleToken.salt($0), retryWindow: retryWindow) },
            scope: scope,
            clientScopes: clientScopes, familyExpiresAt: expiresAt, longestLine: longestLine, moment: moment)
    }
}

extension RevokeCommand {
    public static func sample(
        _ token: SampleToken = SampleToken(family: 1), client: OAuthClientID = "phone",
        at moment: Moment = 2_200_000
    ) -> RevokeCommand {
        RevokeCommand(oauthClientID: client, token: .refresh(token.text), moment: moment)
    }
}

extension EndGrantCommand {
    public static func sample(
        _ grant: GrantID, of account: AccountID, scope: AppScope = .all, at moment: Moment = 2_300_000
    ) -> EndGrantCommand {
        EndGrantCommand(
            grantID: grant, accountID: account, scope: scope, reason: .unlinked, moment: moment)
    }
}

extension AssertionCommand {
    public static func sample(
        _ number: UInt64 = 1, account: AccountID, client: OAuthClientID = "google",
        subject: String = "google-sub-1", match: GoogleAccountMatch = .email("user@example.com"),
        assertedAt: Moment? = nil, scope: String = "openid",
        limits: FamilyLimits = FamilyLimits(perClient: 10, perAccount: nil), at moment: Moment = 2_000_000
    ) -> AssertionCommand {
        AssertionCommand(
            accountID: account, newGrantID: GrantID(.sample(number)), oauthClientID: client,
            clientID: "com.example.app", googleSubject: subject, match: match,
            assertedAt: assertedAt ?? moment, scope: scope, newFamilyID: .sample(number),
            refreshToken: SampleToken(family: number).new(forGoogle: true), limits: limits, moment: moment)
    }
}

extension TokenExchangeCommand {
    /// Makes a command whose new grant and token family have the same number.
    public static func sample(
        _ number: UInt64 = 1, account: AccountID, client: OAuthClientID = "phone",
        app: ClientID = "com.example.app", scope: String = "openid email",
        authenticatedAt: Moment = 1_000_000, authenticatedAfter: Moment? = nil,
        expiresAt: Moment = 900_000_000,
        limits: FamilyLimits = FamilyLimits(perClient: 10, perAccount: 50), at moment: Moment = 2_000_000
    ) -> TokenExchangeCommand {
        TokenExchangeCommand(
            accountID: account, newGrantID: GrantID(.sample(number)), oauthClientID: client, clientID: app,
            scope: scope, authenticatedAt: authenticatedAt, authenticatedAfter: authenticatedAfter,
            newFamilyID: .sample(number), refreshToken: SampleToken(family: number).new(),
            familyExpiresAt: expiresAt, limits: limits, moment: moment)
    }
}

extension LearnGoogleSubjectCommand {
    public static func sample(
        account: AccountID, client: OAuthClientID = "google", subject: String = "google-sub-1",
        match: GoogleAccountMatch = .email("user@example.com"), assertedAt: Moment = 2_000_000
    ) -> LearnGoogleSubjectCommand {
        LearnGoogleSubjectCommand(
            accountID: account, oauthClientID: client, googleSubject: subject, match: match,
            assertedAt: assertedAt)
    }
}

extension GoogleEventCommand {
    /// - Parameter kind: Without it, the kind that usually has the first of the changes.
    public static func sample(
        _ changes: Change..., kind: GoogleEventKind? = nil, reason: GoogleEventReason? = nil,
        verificationState: String? = nil, jti: String = "jti-1", receivedAt: Moment = 3_000_000
    ) -> GoogleEventCommand {
        GoogleEventCommand(
            jti: jti, payload: Array("payload of \(jti)".utf8),
            events: [Event(kind ?? changes.first?.usualKind ?? .verification, reason: reason, changes)],
            verificationState: verificationState, receivedAt: receivedAt)
    }
}

extension GoogleEventCommand.Change {
    fileprivate var usualKind: GoogleEventKind {
        switch self {
        case .endFamilies(_, _, let clients): clients == nil ? .sessionsRevoked : .tokensRevoked
        case .endToken: .tokenRevoked
        case .disable: .accountDisabled
        case .enable: .accountEnabled
        case .name: .credentialChangeRequired
        }
    }
}

extension UniqueID {
    /// Makes an ID that sorts by the number.
    public static func sample(_ number: UInt64) -> UniqueID {
        UniqueID(high: number, low: number)
    }
}

extension SealedSecret {
    public static func sample(_ text: String) -> SealedSecret {
        guard let sealed = SealedSecret(Array(text.utf8)) else { preconditionFailure("nothing to seal") }
        return sealed
    }
}

extension AppleTokenSecret {
    public static func sample(_ text: String) -> AppleTokenSecret {
        guard let secret = AppleTokenSecret(text) else { preconditionFailure("no secret of Apple's") }
        return secret
    }
}

extension AuthorizationCodeOffer {
    /// Makes a code whose secret contains the number.
    public static func sample(
        _ number: UInt64 = 1, clientID: ClientID = "com.example.app", redirectURI: String? = nil,
        expiresAt: Moment = 1_300_000
    ) -> AuthorizationCodeOffer {
        AuthorizationCodeOffer(
            id: .sample(number), clientID: clientID, redirectURI: redirectURI, expiresAt: expiresAt,
            secret: .sample("code \(number)"))
    }
}

extension ExchangeCommand {
    /// - Parameter token: Number of the token in the response; `nil` without a token.
    public static func sample(
        code: UInt64 = 1, account: Account, clientID: ClientID = "com.example.app",
        primaryClientID: ClientID? = nil, token: UInt64? = 1, authorizedAt: Moment = 1_000_000,
        cause: RefreshTokenCause = .codeRejected, nextCheckAt: Moment = 90_000_000
    ) -> ExchangeCommand {
        let key = SubjectKey(team: account.team, subject: account.subject)
        return ExchangeCommand(
            codeID: .sample(code), key: key, accountID: account.id, clientID: clientID,
            primaryClientID: primaryClientID ?? clientID,
            outcome: token.map { number in
                .token(
                    .sample("token \(number)"), tokenID: .sample(number), authorizedAt: authorizedAt,
                    nextCheckAt: nextCheckAt)
            } ?? .unavailable(cause),
            receivedAt: authorizedAt.advanced(byMilliseconds: 2000))
    }
}

extension RejectionCommand {
    public static func sample(
        token: UInt64 = 1, account: Account, clientID: ClientID = "com.example.app",
        primaryClientID: ClientID? = nil, at moment: Moment = 90_000_000
    ) -> RejectionCommand {
        let key = SubjectKey(team: account.team, subject: account.subject)
        return RejectionCommand(
            key: key, accountID: account.id, clientID: clientID, primaryClientID: primaryClientID ?? clientID,
            tokenID: .sample(token), moment: moment)
    }
}

extension EraseCommand {
    public static func sample(
        _ number: UInt64 = 1, account: Account, at moment: Moment = 5_000_000, scope: AppScope = .all
    ) -> EraseCommand {
        EraseCommand(
            key: SubjectKey(team: account.team, subject: account.subject), accountID: account.id,
            erasureID: ErasureID(.sample(number)), requestedAt: moment,
            deadline: moment.advanced(byMilliseconds: 604_800_000), scope: scope)
    }
}

extension TicketDigest {
    public static func sample(_ byte: UInt8 = 7) -> TicketDigest {
        TicketDigest(.hash([byte]))
    }
}
