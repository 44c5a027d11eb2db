public import AppleAccounts
import Cryptography

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
