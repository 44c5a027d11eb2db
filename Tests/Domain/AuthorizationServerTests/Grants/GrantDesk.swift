import AppleAccounts
import Cryptography
import StorageConformance

@testable import AuthorizationServer

/// Carries commands out on one user's grants, one batch after the other, as a store does: loads everything,
/// applies the rules, stores the changes.
struct GrantDesk {
    var user: SubjectRecord
    private(set) var grants: [GrantID: GrantRecord] = [:]
    private(set) var families: [UniqueID: TokenFamily] = [:]
    private(set) var codes: [SHA256Digest: CodeRecord] = [:]
    private(set) var events: [AccountEvent] = []
    private var generator = SystemRandomNumberGenerator()

    static let account = AccountID(.sample(77))
    static let app: ClientID = "com.example.app"

    /// Makes a user who is authorized for one app since the moment 1,000,000.
    init(_ subject: AppleSubject = SubjectKey.sample().subject) {
        user = SubjectRecord(key: .sample(subject), isStored: true)
        user.email = LastWriter(.sample(), at: 1_000_000)
        user.accountID = Self.account
        user.createdAt = 1_000_000
        user.credentials = [AppCredential(clientID: Self.app)]
        authorize(at: 1_000_000)
    }

    /// Signs the user in at Apple.
    mutating func authorize(at moment: Moment) {
        user.credentials[0].record.merge(Authorization(moment: moment, source: .signIn))
    }

    mutating func revoke(_ reason: CredentialReason, at moment: Moment) {
        user.credentials[0].record.merge(Revocation(moment: moment, reason: reason, source: .dailyCheck))
    }

    /// Returns the commands with everything that they read.
    func set(_ commands: [GrantCommand]) -> GrantWorkingSet {
        var set = GrantWorkingSet(commands)
        set.load(user)
        set.load(grants: Array(grants.values), families: Array(families.values), codes: Array(codes.values))
        return set
    }

    @discardableResult
    mutating func apply(_ command: GrantCommand) -> Result<GrantOutcome, GrantRefusal> {
        var set = set([command])
        let results = set.applyCommands(using: &generator)
        save(set.changes)
        events += set.events
        return results[0].mapError { error in
            guard let refusal = error as? GrantRefusal else { preconditionFailure("\(error) is no refusal") }
            return refusal
        }
    }

    /// Makes a family look as a version without salts has left it.
    mutating func forgetSalts(of family: UInt64) {
        guard let last = token(family)?.exchanged.first else { return }
        families[.sample(family)]?.refreshToken?.exchanged = [
            .init(digest: last.digest, moment: last.moment, salt: nil)
        ]
    }

    mutating func replaceToken(of family: UInt64, by digest: SHA256Digest) {
        families[.sample(family)]?.refreshToken?.digest = digest
    }

    /// Applies the effects of account commands to grants.
    mutating func end(_ set: WorkingSet) {
        guard var ending = GrantEnding(of: set) else { return events += set.events }
        ending.load(
            grants: Array(grants.values), families: Array(families.values), codes: Array(codes.values))
        events += ending.carryOut(set.events, using: &generator)
        save(ending.changes)
    }

    private mutating func save(_ changes: GrantChanges) {
        for id in changes.removedGrants {
            grants[id] = nil
            families = families.filter { $0.value.grantID != id }
            codes = codes.filter { $0.value.grantID != id }
        }
        for id in changes.removedFamilies { families[id] = nil }
        for digest in changes.removedCodes { codes[digest] = nil }
        for grant in changes.grants { grants[grant.id] = grant }
        for family in changes.families { families[family.id] = family }
        for code in changes.codes { codes[code.digest] = code }
    }
}

// What tests ask and do in a word.
extension GrantDesk {
    /// Issues and redeems the code of this number, which gives the token family of this number.
    @discardableResult
    mutating func link(
        _ number: UInt64 = 1, client: OAuthClientID = "phone", isNative: Bool = true, forGoogle: Bool = false,
        hasRefreshToken: Bool = true, limits: FamilyLimits = FamilyLimits(perClient: 10, perAccount: 50),
        at moment: Moment = 2_000_000
    ) -> Result<GrantOutcome, GrantRefusal> {
        authorizeCode(number, client: client, at: moment)
        return apply(
            .redeem(
                .sample(
                    number, client: client, isNative: isNative, hasRefreshToken: hasRefreshToken,
                    forGoogle: forGoogle, limits: limits, at: moment)))
    }

    @discardableResult
    mutating func authorizeCode(
        _ number: UInt64 = 1, client: OAuthClientID = "phone", at moment: Moment = 2_000_000
    ) -> Result<GrantOutcome, GrantRefusal> {
        apply(
            .authorize(
                .sample(
                    number, account: Self.account, client: client,
                    authenticatedAt: user.credentials[0].record.authorization?.moment ?? 1_000_000,
                    at: moment)))
    }

    /// The numbers of the token families that have not ended.
    var lineNumbers: [UInt64] { families.keys.map { $0.low }.sorted() }

    /// The refresh tokens of whose end Google is told, in order.
    var reported: [SHA512Digest] { events.compactMap(\.grant?.endedToken) }

    func token(_ family: UInt64) -> RefreshTokenState? { families[.sample(family)]?.refreshToken }

    /// Reasons of the ends of grants, in order.
    var endings: [GrantEndReason] { events.compactMap { $0.kind == .grantRevoked ? $0.grant?.reason : nil } }
}

extension Result where Success == GrantOutcome, Failure == GrantRefusal {
    var issued: IssuedTokens? {
        guard case .success(.issued(let tokens)) = self else { return nil }
        return tokens
    }

    /// `nil` for a success.
    var refusal: GrantRefusal.Code? {
        guard case .failure(let refusal) = self else { return nil }
        return refusal.code
    }
}
