package import AppleAccounts
package import Cryptography

/// The grants of several accounts in one transaction, before and after the rules were applied.
///
/// A store locks the accounts, loads all their grants, and saves `changes`. The ledger does not know which
/// user caused a change, or why.
package struct GrantLedger: Sendable {
    private var loaded: [GrantID: HeldGrant] = [:]
    private var held: [GrantID: HeldGrant] = [:]
    private var grantsOfAccount: [AccountID: [GrantID]] = [:]
    private var grantOfFamily: [UniqueID: GrantID] = [:]
    private var grantOfCode: [SHA256Digest: GrantID] = [:]
    private var removals: [Removal] = []

    /// The end of a grant or token family, for the audit log.
    struct Removal {
        let grant: GrantRecord
        /// The ended token family. `nil` if the whole grant has ended.
        let familyID: UniqueID?
        let reason: GrantEndReason
        let moment: Moment
    }

    package init() {}

    /// Adds all grants of some accounts, with all their token families and codes.
    package mutating func load(grants: [GrantRecord], families: [TokenFamily], codes: [CodeRecord]) {
        let families = Dictionary(grouping: families, by: \.grantID)
        let codes = Dictionary(grouping: codes, by: \.grantID)
        for record in grants {
            let grant = HeldGrant(record, families: families[record.id] ?? [], codes: codes[record.id] ?? [])
            loaded[record.id] = grant
            hold(grant)
        }
    }

    /// The changes that a store must write.
    package var changes: GrantChanges { GrantChanges(from: loaded, to: held) }

    /// Returns the `sub`s of all Google accounts that are linked with the account.
    package func googleSubjects(of account: AccountID) -> Set<String> {
        let grants = grants(of: account)
        return Set(grants.compactMap(\.record.googleSubject))
            .union(grants.flatMap(\.families).compactMap(\.googleSubject))
    }

    func grant(_ id: GrantID) -> HeldGrant? { held[id] }

    /// Returns the grants and token families that have ended since the last call, except families that had
    /// already expired or were replaced by newer families.
    mutating func takeRemovals() -> [Removal] {
        guard !removals.isEmpty else { return [] }
        defer { removals = [] }
        return removals
    }

    /// Returns an account's grants, ordered by ID.
    func grants(of account: AccountID) -> [HeldGrant] {
        (grantsOfAccount[account] ?? []).compactMap { held[$0] }
    }

    func grant(of account: AccountID, for client: OAuthClientID) -> HeldGrant? {
        grants(of: account).first { $0.record.oauthClientID == client }
    }

    func grant(withFamily id: UniqueID) -> HeldGrant? { grantOfFamily[id].flatMap { held[$0] } }

    func grant(withCode digest: SHA256Digest) -> HeldGrant? { grantOfCode[digest].flatMap { held[$0] } }

    /// Returns the matching grants, ordered by ID.
    func all(where isMeant: (HeldGrant) -> Bool) -> [HeldGrant] {
        held.values.filter(isMeant).sorted { $0.record.id.uniqueID < $1.record.id.uniqueID }
    }

    /// Adds a new grant, or replaces a grant's record.
    mutating func put(_ record: GrantRecord) {
        if held[record.id] == nil {
            hold(HeldGrant(record))
        } else {
            held[record.id]?.record = record
        }
    }

    mutating func put(_ family: TokenFamily) {
        guard var grant = held[family.grantID] else { return }
        grant.families.removeAll { $0.id == family.id }
        hold(HeldGrant(grant.record, families: grant.families + [family], codes: grant.codes))
    }

    mutating func put(_ code: CodeRecord) {
        guard var grant = held[code.grantID] else { return }
        grant.codes.removeAll { $0.digest == code.digest }
        hold(HeldGrant(grant.record, families: grant.families, codes: grant.codes + [code]))
    }

    /// Changes token families in place, because the array is ordered by their age.
    mutating func changeFamilies(of id: GrantID, _ change: (inout TokenFamily) -> Void) {
        guard var grant = held[id] else { return }
        for index in grant.families.indices { change(&grant.families[index]) }
        held[id] = grant
    }

    mutating func removeCodes(of id: GrantID, where isMeant: (CodeRecord) -> Bool) {
        held[id]?.codes.removeAll(where: isMeant)
    }

    /// Removes token families.
    ///
    /// - Returns: Double SHA-512 digests of the refresh tokens to report to Google: the tokens that were
    ///   still valid, if the reason calls for a report.
    mutating func removeFamilies(
        of id: GrantID, reason: GrantEndReason, at moment: Moment, where isMeant: (TokenFamily) -> Bool
    ) -> [SHA512Digest] {
        guard var grant = held[id] else { return [] }
        let ended = grant.families.filter(isMeant)
        grant.families.removeAll(where: isMeant)
        held[id] = grant
        // A family replaced by a newer family gets no entry, because the newer family has its own entry.
        for family in ended where moment < family.expiresAt && reason != .replaced {
            removals.append(
                Removal(grant: grant.record, familyID: family.id, reason: reason, moment: moment))
        }
        guard reason.isToldToGoogle else { return [] }
        return ended.filter { moment < $0.expiresAt }.compactMap { $0.refreshToken?.doubleSHA512 }
    }

    /// Removes a grant with its token families and codes. Returns the same digests as `removeFamilies`.
    mutating func remove(_ id: GrantID, reason: GrantEndReason, at moment: Moment) -> [SHA512Digest] {
        let tokens = removeFamilies(of: id, reason: reason, at: moment) { _ in true }
        guard let grant = held.removeValue(forKey: id) else { return tokens }
        removals.append(Removal(grant: grant.record, familyID: nil, reason: reason, moment: moment))
        grantsOfAccount[grant.record.accountID]?.removeAll { $0 == id }
        return tokens
    }

    private mutating func hold(_ grant: HeldGrant) {
        let id = grant.record.id
        if held.updateValue(grant, forKey: id) == nil {
            grantsOfAccount[grant.record.accountID, default: []].append(id)
            grantsOfAccount[grant.record.accountID]?.sort { $0.uniqueID < $1.uniqueID }
        }
        for family in grant.families { grantOfFamily[family.id] = id }
        for code in grant.codes { grantOfCode[code.digest] = id }
    }

}

extension GrantEndReason {
    /// True if the service informs Google when a refresh token ends for this reason (RISC, `token-revoked`).
    /// False if Google requested the end itself, or replaced the token with a newer token.
    fileprivate var isToldToGoogle: Bool {
        switch self {
        case .unlinked, .tokenReused, .consentRevoked, .appleAccountDeleted, .erased, .signedOut: true
        case .clientRevoked, .replaced, .googleRevoked: false
        }
    }
}

/// A grant with all its token families and codes.
package struct HeldGrant: Sendable, Hashable {
    package var record: GrantRecord
    /// Token families, oldest first.
    package var families: [TokenFamily]
    /// Codes, oldest first. For batches of redemptions and refreshes, a store may load only the codes being
    /// redeemed. A rule that needs other codes must set `GrantWorkingSet.isMissingCodes`.
    package var codes: [CodeRecord]

    package init(_ record: GrantRecord, families: [TokenFamily] = [], codes: [CodeRecord] = []) {
        self.record = record
        self.families = families.sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
        self.codes = codes.sorted { $0.issuedAt < $1.issuedAt }
    }

    func family(_ id: UniqueID) -> TokenFamily? { families.first { $0.id == id } }

    func code(_ digest: SHA256Digest) -> CodeRecord? { codes.first { $0.digest == digest } }

    /// Returns true if a token family or one of the grant's unused codes can still yield tokens without the
    /// user's participation.
    func isAlive(at moment: Moment) -> Bool {
        families.contains { moment < $0.expiresAt }
            || codes.contains { $0.redemption == nil && moment < $0.expiresAt }
    }
}

/// Grant changes that a store must write at the end of a transaction: first the rows to delete, then the rows
/// to insert or replace. Each list is sorted by key, so that all replicas lock rows in the same order.
package struct GrantChanges: Sendable, Equatable {
    /// Grants to delete, with their token families and codes.
    package var removedGrants: [GrantID] = []
    package var removedFamilies: [UniqueID] = []
    package var removedCodes: [SHA256Digest] = []
    /// New grants, and grants that replace the row with the same ID.
    package var grants: [GrantRecord] = []
    package var families: [TokenFamily] = []
    package var codes: [CodeRecord] = []

    package var isEmpty: Bool { self == GrantChanges() }
}

extension GrantChanges {
    /// Computes the difference between the loaded grants and the grants after the rules were applied.
    init(from loaded: [GrantID: HeldGrant], to held: [GrantID: HeldGrant]) {
        self.init()
        removedGrants = loaded.keys.filter { held[$0] == nil }
        for (id, grant) in held {
            let before = loaded[id]
            guard grant != before else { continue }
            if grant.record != before?.record { grants.append(grant.record) }
            let familyIDs = Set(grant.families.map(\.id))
            removedFamilies += before?.families.map(\.id).filter { !familyIDs.contains($0) } ?? []
            families += grant.families.filter { $0 != before?.family($0.id) }
            let digests = Set(grant.codes.map(\.digest))
            removedCodes += before?.codes.map(\.digest).filter { !digests.contains($0) } ?? []
            codes += grant.codes.filter { $0 != before?.code($0.digest) }
        }
        removedGrants.sort { $0.uniqueID < $1.uniqueID }
        removedFamilies.sort()
        removedCodes.sort { $0.bytes.lexicographicallyPrecedes($1.bytes) }
        grants.sort { $0.id.uniqueID < $1.id.uniqueID }
        families.sort { $0.id < $1.id }
        codes.sort { $0.digest.bytes.lexicographicallyPrecedes($1.digest.bytes) }
    }
}

/// A grant's ended refresh tokens that must be reported to Google, and the events that contain them. Each
/// event contains one token, because Google receives a separate report for each. If the grant ends, its end
/// event contains the last token.
struct EndedTokens {
    let tokens: [SHA512Digest]
    let endsGrant: Bool

    init(_ tokens: [SHA512Digest], endsGrant: Bool) {
        (self.tokens, self.endsGrant) = (tokens, endsGrant)
    }

    /// Creates the events in feed order.
    ///
    /// - Parameter make: Creates an event from a token. The flag is true if the event is only about the
    ///   token.
    func events<Event>(_ make: (_ token: SHA512Digest?, _ isOnlyToken: Bool) -> Event) -> [Event] {
        guard endsGrant else { return tokens.map { make($0, true) } }
        return tokens.dropLast().map { make($0, true) } + [make(tokens.last, false)]
    }
}
