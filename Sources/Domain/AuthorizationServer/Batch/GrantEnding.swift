package import AppleAccounts
import Cryptography

/// Ends the OAuth grants of ended credentials, in the transaction of the account command that ended them.
///
/// All token families and codes that were authorized at or before the end of the credential are removed. A
/// grant ends if its last authorization is not later than the credential's end; otherwise it keeps its later
/// families and codes. For each of Google's refresh tokens that has ended, an event contains the token's
/// digest, so that the service can report the token to Google.
package struct GrantEnding: Sendable {
    package let ends: [CredentialEnd]
    private var ledger = GrantLedger()
    /// Audit log entries about the grants, in addition to the account commands' entries.
    package private(set) var audit: [AuditEntry] = []
    /// The `sub`s of Google accounts that were linked with erased users. The store deletes the records about
    /// these Google accounts together with the users.
    package private(set) var forgottenGoogleSubjects: Set<String> = []

    /// Returns `nil` if no credential has ended. A sign-in ends a credential only if it moves an account.
    package init?(of set: WorkingSet) {
        guard !set.credentialEnds.isEmpty else { return nil }
        ends = set.credentialEnds
    }

    /// The accounts whose grants the store must load. Their subjects are already locked.
    package var accountIDs: [AccountID] {
        Array(Set(ends.map(\.accountID))).sorted { $0.uniqueID < $1.uniqueID }
    }

    package mutating func load(grants: [GrantRecord], families: [TokenFamily], codes: [CodeRecord]) {
        ledger.load(grants: grants, families: families, codes: codes)
    }

    /// The changes that the store must write.
    package var changes: GrantChanges { ledger.changes }

    /// Ends the grants. Returns the transaction's events, with the grants' events inserted in the right
    /// places.
    package mutating func carryOut(
        _ events: [AccountEvent], using generator: inout some RandomNumberGenerator
    ) -> [AccountEvent] {
        var told: [Int: [AccountEvent]] = [:]
        for end in ends {
            defer {
                audit += ledger.takeRemovals().map { removal in
                    let entry = removal.entry(by: end.origin)
                    return end.subject == nil ? entry.withoutPerson : entry
                }
            }
            if end.subject == nil {
                forgottenGoogleSubjects.formUnion(ledger.googleSubjects(of: end.accountID))
            }
            for grant in ledger.grants(of: end.accountID).map(\.record) {
                guard end.clientID == nil || end.clientID == grant.clientID,
                    !end.keptClients.contains(grant.oauthClientID)
                else { continue }
                let endsGrant = end.ends(grant.clientID, authorizedAt: grant.authorizedAt)
                let tokens =
                    endsGrant
                    ? ledger.remove(grant.id, reason: end.reason, at: end.recordedAt)
                    : removeOlder(than: end, of: grant)
                told[end.eventIndex, default: []] += EndedTokens(tokens, endsGrant: endsGrant).events {
                    AccountEvent(
                        of: grant, reason: end.reason, endedToken: $0, isOnlyToken: $1,
                        team: end.team, subject: end.subject, source: end.source, moment: end.moment,
                        recordedAt: end.recordedAt, using: &generator)
                }
            }
        }
        guard !told.isEmpty || !audit.isEmpty else { return events }
        return (0...events.count).flatMap { index in
            (told[index] ?? []) + (index < events.count ? [events[index]] : [])
        }
    }

    private mutating func removeOlder(than end: CredentialEnd, of grant: GrantRecord) -> [SHA512Digest] {
        ledger.removeCodes(of: grant.id) { end.ends(grant.clientID, authorizedAt: $0.authorizedAt) }
        return ledger.removeFamilies(of: grant.id, reason: end.reason, at: end.recordedAt) {
            end.ends(grant.clientID, authorizedAt: $0.authorizedAt)
        }
    }
}
