import AppleAccounts
import StorageConformance
import Testing

/// The rules of disabling, enabling and signing out, on one user's record.
@Suite struct DisablingTests {
    private static let user = SubjectKey.sample()
    private static let id = AccountID(.sample(1))

    private var record: SubjectRecord {
        var record = SubjectRecord(key: Self.user, isStored: true)
        record.accountID = Self.id
        record.createdAt = 1000
        record.credentials = [AppCredential(clientID: "com.example.app")]
        return record
    }

    /// Applies the commands in one batch. Returns the results, the record and the kinds of the events.
    private func apply(_ commands: [AccountCommand], to record: SubjectRecord) -> WorkingSet {
        var generator = SystemRandomNumberGenerator()
        var set = WorkingSet(commands)
        set.load(record, at: 0)
        _ = set.applyCommands(using: &generator)
        return set
    }

    private func refusal(_ command: AccountCommand, of record: SubjectRecord) -> AccountRefusal.Code? {
        var generator = SystemRandomNumberGenerator()
        var set = WorkingSet([command])
        set.load(record, at: 0)
        guard case .refused(let refusal) = set.applyCommands(using: &generator)[0] else { return nil }
        return refusal.code
    }

    private func disable(
        _ reason: Disabling.Reason = .abuse, until: Moment = .last, at moment: Moment = 2000,
        scope: AppScope = .all
    ) -> AccountCommand {
        .disable(
            DisableCommand(
                key: Self.user, accountID: Self.id, reason: reason, until: until, scope: scope, moment: moment
            ))
    }

    private func enable(onlyIfOver: Bool = false, at moment: Moment) -> AccountCommand {
        .enable(
            EnableCommand(
                key: Self.user, accountID: Self.id, onlyIfOver: onlyIfOver, scope: .all, moment: moment))
    }

    @Test func `a repetition changes nothing, and other values replace the old ones without an event`() {
        let once = apply([disable()], to: record)
        #expect(once.events.map(\.kind) == [.accountDisabled])
        #expect(once.subjects[0].disabling == Disabling(since: 2000, until: .last, reason: .abuse))
        let stored = once.subjects[0].saved ?? record
        let again = apply([disable(at: 3000)], to: stored)
        #expect(again.events.isEmpty && again.subjects[0].rowChange == .none)
        let other = apply([disable(.fraud, until: 9000, at: 3000)], to: stored)
        #expect(other.events.isEmpty)
        #expect(other.subjects[0].disabling == Disabling(since: 2000, until: 9000, reason: .fraud))
    }

    @Test func `enabling an account that is enabled does nothing`() {
        let set = apply([enable(at: 2000)], to: record)
        #expect(set.events.isEmpty && set.subjects[0].rowChange == .none)
        let both = apply([disable(), enable(at: 3000), enable(at: 4000)], to: record)
        #expect(both.events.map(\.kind) == [.accountDisabled, .accountEnabled])
        #expect(both.subjects[0].disabling == nil)
    }

    @Test func `a disabled user is refused up to the end, and signs in from it on`() {
        let stored = apply([disable(until: 5000)], to: record).subjects[0]
        func signIn(at moment: Moment) -> AccountCommand {
            .signIn(.sample(authorizedAt: 4000, receivedAt: moment))
        }
        #expect(refusal(signIn(at: 4999), of: stored) == .accountDisabled)
        #expect(refusal(signIn(at: 5000), of: stored) == nil)
        let later = apply([signIn(at: 6000)], to: stored)
        // The event has the moment of the end, not of the sign-in.
        let enabled = later.events.first { $0.kind == .accountEnabled }
        #expect(enabled?.moment == 5000 && enabled?.recordedAt == 6000)
        #expect(later.subjects[0].disabling == nil)
    }

    @Test func `a refused sign-in leaves no trace, and does not use its nonce up`() {
        let stored = apply([disable()], to: record).subjects[0].saved ?? record
        let set = apply(
            [.signIn(.sample(authorizedAt: 4000, nonce: .sample(), receivedAt: 4000))], to: stored)
        #expect(set.usedNonces.isEmpty && set.events.isEmpty)
        #expect(set.subjects[0] == stored)
    }

    @Test func `a token from before a revocation says nothing about the account`() {
        var revoked = apply([disable()], to: record).subjects[0]
        revoked.credentials[0].record.merge(
            Revocation(moment: 5000, reason: .consentRevoked, source: .notification))
        let old = AccountCommand.signIn(.sample(authorizedAt: 4000, receivedAt: 6000))
        #expect(refusal(old, of: revoked) == .credentialRevoked)
    }

    @Test func `the sweep ends only what is over`() {
        let stored = apply([disable(until: 5000)], to: record).subjects[0]
        #expect(apply([enable(onlyIfOver: true, at: 4999)], to: stored).subjects[0].disabling != nil)
        let swept = apply([enable(onlyIfOver: true, at: 7000)], to: stored)
        #expect(swept.subjects[0].disabling == nil)
        #expect(swept.events.last?.kind == .accountEnabled && swept.events.last?.moment == 5000)
    }

    @Test func `a disabling after one that is over begins anew`() {
        let stored = apply([disable(until: 5000)], to: record).subjects[0].saved ?? record
        let set = apply([disable(.legal, at: 6000)], to: stored)
        #expect(set.events.map(\.kind) == [.accountEnabled, .accountDisabled])
        #expect(set.subjects[0].disabling == Disabling(since: 6000, until: .last, reason: .legal))
    }

    @Test(
        arguments: [
            (.only(["com.example.other"]), .accountNotFound), (.only([]), .accountNotFound),
            (.only(["com.example.app"]), nil), (.all, nil),
        ] as [(AppScope, AccountRefusal.Code?)])
    func `a caller must be allowed all apps of the account`(scope: AppScope, code: AccountRefusal.Code?) {
        #expect(refusal(disable(scope: scope), of: record) == code)
        var wide = record
        wide.credentials.append(AppCredential(clientID: "com.example.second"))
        let isLimited = scope != .all
        #expect(refusal(disable(scope: scope), of: wide) == (isLimited ? code ?? .callerForbidden : nil))
    }

    @Test func `a sign-out tells of the sessions last, and its time never goes back`() {
        func signOut(at moment: Moment) -> AccountCommand {
            .signOut(SignOutCommand(key: Self.user, accountID: Self.id, scope: .all, moment: moment))
        }
        let set = apply([signOut(at: 5000), signOut(at: 4000)], to: record)
        #expect(set.subjects[0].sessionsEndedAt == 5000)
        #expect(set.events.map(\.kind) == [.sessionsEnded, .sessionsEnded])
        #expect(set.credentialEnds.map(\.eventIndex) == [0, 1])
        #expect(set.credentialEnds.allSatisfy { $0.ends("com.example.app", authorizedAt: .last) })
    }

    @Test func `a reader sees a disabling until its end`() throws {
        let account = try #require(apply([disable(until: 5000)], to: record).subjects[0].account)
        #expect(account.isDisabled(at: 4999) && !account.isDisabled(at: 5000))
        #expect(account.current(at: 4999) == account)
        #expect(account.current(at: 5000).disabling == nil)
        #expect(account.current(at: 5000).credentials.map(\.disabledUntil) == [nil])
        #expect(account.credentials.map(\.disabledUntil) == [5000])
    }
}
