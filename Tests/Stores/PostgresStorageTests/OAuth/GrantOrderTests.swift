import AppleAccounts
import AuthorizationServer
import StorageConformance
import TestSupport
import Testing

@testable import PostgresStorage

/// The use of a token or code at one replica, and its end at another, in either order. Other sessions hold
/// locks, so that the order is always the intended order.
@Suite struct GrantOrderTests {
    struct Race: CustomTestStringConvertible {
        let use: GrantUse
        let end: GrantEnd
        let isUseFirst: Bool

        static let all = GrantUse.allCases.flatMap { use in
            GrantEnd.allCases.flatMap { end in
                [true, false].map { Race(use: use, end: end, isUseFirst: $0) }
            }
        }

        var testDescription: String { isUseFirst ? "\(use), then \(end)" : "\(end), then \(use)" }
    }

    private static let user = SubjectKey.sample("person")
    private static let family: UInt64 = 1
    private static let moment: Moment = 1_000_050

    @Test(arguments: Race.all)
    func `the later of the use and the end of tokens waits for the earlier, and sees what it did`(
        race: Race
    ) async throws {
        try await Replicas.with { replicas in
            let (here, there) = (replicas.stores[0], replicas.stores[1])
            let (grant, account) = try await here.linkWithCode(Self.family, key: Self.user)
            let holder = try LockHolder(replicas.url, "SELECT id FROM subject FOR UPDATE")
            let use = { @Sendable in try await race.use.carryOut(Self.family, at: Self.moment, of: here) }
            let end = { @Sendable () -> GrantRefusal.Code? in
                try await race.end.carryOut(grant, of: account, at: there)
                return nil
            }
            async let first = (race.isUseFirst ? use : end)()
            try await eventually { try holder.allWaiters == 1 }
            async let second = (race.isUseFirst ? end : use)()
            try await eventually { try holder.allWaiters == 2 }
            try holder.release()
            let (earlier, later) = (try await first, try await second)
            let isGood = race.isUseFirst || race.end.isTransfer
            #expect((race.isUseFirst ? earlier : later) == (isGood ? nil : race.use.refusal(after: race.end)))
            let families = race.use == .refresh ? [Self.family] : [Self.family, Self.family + 1]
            for family in families {
                #expect(try await here.isGood(family, at: Self.moment) == race.end.isTransfer)
            }
            #expect(try await there.grants(of: account.id).isEmpty != race.end.keepsGrants)
        }
    }

    /// A transfer changes the key of the user's row while the refresh waits for the row.
    @Test func `holds the lock of an account that was moved while it waited`() async throws {
        try await Replicas.with { replicas in
            let (here, there) = (replicas.stores[0], replicas.stores[1])
            let (grant, account) = try await here.linkWithCode(Self.family, key: Self.user)
            let rows = try LockHolder(replicas.url, "SELECT id FROM subject FOR UPDATE")
            let families = try LockHolder(replicas.url, "SELECT id FROM oauth_token_family FOR UPDATE")
            async let moved: Void = GrantEnd.transferred.carryOut(grant, of: account, at: there)
            try await eventually { try rows.allWaiters == 1 }
            async let refusal = GrantUse.refresh.carryOut(Self.family, at: Self.moment, of: here)
            try await eventually { try rows.allWaiters == 2 }
            try rows.release()
            try await moved
            // The refresh has read the account, and waits to write.
            try await eventually { try families.waiters == 1 }
            #expect(throws: PostgresError.self) {
                _ = try LockHolder(replicas.url, "SELECT id FROM subject FOR UPDATE NOWAIT")
            }
            try families.release()
            #expect(try await refusal == nil)
        }
    }
}

/// A sign-in without new facts, which locks no account, and a disabling at another replica, in either order.
@Suite struct DisablingOrderTests {
    private static let user = SubjectKey.sample("person")

    @Test(arguments: [true, false])
    func `a sign-in that has read an enabled account does not commit after the disabling`(
        isSignInFirst: Bool
    ) async throws {
        try await Replicas.with { replicas in
            let (here, there) = (replicas.stores[0], replicas.stores[1])
            let account = try await here.signIn(.sample(key: Self.user)).account
            let holder = try LockHolder(replicas.url, "SELECT app_id FROM credential FOR UPDATE")
            let signIn = { @Sendable () -> AccountRefusal.Code? in
                let outcome = try await here.commit([
                    .signIn(.sample(key: Self.user, authorizedAt: 1_500_000, receivedAt: 1_500_000))
                ])
                guard case .refused(let refusal) = outcome.results[0] else { return nil }
                return refusal.code
            }
            let disable = { @Sendable () -> AccountRefusal.Code? in
                try await there.change(DisableCommand.sample(account))
                return nil
            }
            async let first = (isSignInFirst ? signIn : disable)()
            try await eventually { try holder.allWaiters == 1 }
            // The second reads an enabled account too, and waits to write.
            async let second = (isSignInFirst ? disable : signIn)()
            try await eventually { try holder.allWaiters == 2 }
            try holder.release()
            let (earlier, later) = (try await first, try await second)
            #expect(earlier == nil)
            #expect(later == (isSignInFirst ? nil : .accountDisabled))
            let found = try await there.account(account.id)
            #expect(found?.disabling != nil)
            #expect(found?.lastSignInAt == (isSignInFirst ? 1_500_000 : account.lastSignInAt))
        }
    }
}

/// Change of an account while its tokens are used.
enum GrantEnd: CaseIterable, CustomStringConvertible {
    case consentRevoked, appleAccountDeleted, erased, unlinked, transferred, disabled, signedOut

    static let newTeam: TeamID = "OTHERTEAM1"

    /// True if tokens stay valid.
    var isTransfer: Bool { self == .transferred }

    /// True if grants stay.
    var keepsGrants: Bool { self == .transferred || self == .disabled }

    func carryOut(_ grant: GrantRecord, of account: Account, at store: PostgresAccountStore) async throws {
        let key = SubjectKey(team: account.team, subject: account.subject)
        let moment = grant.createdAt.advanced(byMilliseconds: 50)
        switch self {
        case .disabled: try await store.change(DisableCommand.sample(account, at: moment))
        case .signedOut: try await store.change(SignOutCommand.sample(account, at: moment))
        case .consentRevoked: try await store.notify(.sample(key: key, at: moment))
        case .appleAccountDeleted: try await store.notify(.sample(.appleAccountDeleted, key: key, at: moment))
        case .erased:
            try await store.erase(
                EraseCommand(
                    key: key, accountID: account.id, erasureID: ErasureID(grant.id.uniqueID),
                    requestedAt: moment, deadline: moment.advanced(byMilliseconds: 604_800_000), scope: .all))
        case .unlinked: try await store.carryOut(.end(.sample(grant.id, of: account.id, at: moment)))
        case .transferred:
            let to = SubjectKey.sample(team: Self.newTeam, key.subject)
            try await store.transfer(
                TransferCommand(
                    accountID: account.id, from: key, to: to, clientID: "com.example.app", email: nil,
                    createdAt: account.createdAt, receivedAt: moment))
        }
    }

    var description: String {
        switch self {
        case .consentRevoked: "consent revoked"
        case .appleAccountDeleted: "Apple Account deleted"
        case .erased: "erased"
        case .unlinked: "unlinked"
        case .transferred: "transferred"
        case .disabled: "disabled"
        case .signedOut: "signed out"
        }
    }
}

/// Use of a code or a token by a client.
enum GrantUse: CaseIterable, CustomStringConvertible {
    case refresh, redemption

    /// Uses the refresh token of a token family, or the code of the next token family.
    ///
    /// - Returns: Refusal; `nil` when the client got tokens.
    func carryOut(
        _ family: UInt64, at moment: Moment, of store: PostgresAccountStore
    ) async throws -> GrantRefusal.Code? {
        do {
            switch self {
            case .refresh: try await store.refresh(.sample(SampleToken(family: family), at: moment))
            case .redemption: try await store.redeem(.sample(family + 1, at: moment))
            }
            return nil
        } catch let refusal as GrantRefusal {
            return refusal.code
        }
    }

    /// The refusal after the end.
    func refusal(after end: GrantEnd) -> GrantRefusal.Code {
        guard end != .disabled else { return .accountDisabled }
        return switch self {
        case .refresh: .refreshTokenNotFound
        case .redemption: .codeNotFound
        }
    }

    var description: String { self == .refresh ? "refresh" : "redemption" }
}

extension PostgresAccountStore {
    /// Makes a user with a token family and an unredeemed code with the next number.
    func linkWithCode(
        _ family: UInt64, key: SubjectKey, at moment: Moment = 1_000_000
    ) async throws -> (grant: GrantRecord, account: Account) {
        let account = try await signIn(.sample(key: key, authorizedAt: moment)).account
        let grant = try await link(family, key: key, authorizedAt: moment, at: moment)
        try await authorize(
            .sample(family + 1, account: account.id, authenticatedAt: moment, at: moment))
        return (grant, account)
    }
}
