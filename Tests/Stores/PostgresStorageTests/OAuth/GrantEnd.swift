import AppleAccounts
import AuthorizationServer
import StorageConformance

@testable import PostgresStorage

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
