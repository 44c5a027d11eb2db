public import AppleAccounts
import AuthorizationServer

extension ConformanceCheck {
    static let audit = [
        ConformanceCheck("chains a row for each change of grants, tokens and accounts, with who and when") {
            store in
            let grant = try await store.link()
            let account = try unwrap(try await store.account(grant.accountID))
            let backend = AuditOrigin(.apiKey("backend"), requestID: "r-1")
            try await AuditOrigin.$current.withValue(backend) {
                try await store.change(DisableCommand.sample(account, reason: .fraud))
                try await store.change(EnableCommand.sample(account))
                try await store.carryOut(EndGrantCommand.sample(grant.id, of: account.id))
                try await store.change(SignOutCommand.sample(account))
            }
            let rows = try await store.verifiedAudit()
            try expectEqual(
                rows.map(\.facts.action),
                [
                    .grantCreated, .tokensIssued, .accountDisabled, .accountEnabled, .tokensEnded,
                    .grantEnded, .accountSignedOut,
                ])
            try expectEqual(
                rows.map(\.facts.actor),
                [.user, .oauthClient("phone")] + Array(repeating: .apiKey("backend"), count: 5))
            try expectEqual(rows.dropFirst(2).map(\.facts.requestID), Array(repeating: "r-1", count: 5))
            try expectEqual(rows[2].facts.reason, "fraud")
            try expectEqual(rows[4].facts.reason, "unlinked")
            try expectEqual(rows[1].facts.oauthClient, "phone")
            try expectEqual(rows[1].facts.moment, 2_001_000)
            let person = try unwrap(rows[1].entry.person)
            try expectEqual(person.account, account.id)
            try expectEqual(person.tokenFamily, .sample(1))
            try expectEqual(person.scope, "openid offline_access")
            try expectEqual(Set(rows.map(\.entry.person?.account)), [account.id])
            // No two rows can be compared by their digests.
            try expectEqual(Set(rows.compactMap(\.entry.personDigest)).count, rows.count)
        },
        ConformanceCheck("writes no row of the audit log for sign-ins, refreshes and refused tokens") {
            store in
            try await store.link()
            let before = try await store.auditChain()
            for number in 1...3 as ClosedRange<Int64> {
                try await store.signIn(.sample(authorizedAt: Moment(milliseconds: 1_000_000 + number)))
            }
            try await store.signIn(.sample(key: .sample("new")))
            try await store.refresh(.sample())
            try await expectGrantRefusal(.refreshTokenNotFound) {
                try await store.refresh(.sample(SampleToken(family: 9)))
            }
            try await expectGrantRefusal(.codeNotFound) { try await store.redeem(.sample(9)) }
            try expectEqual(try await store.auditChain(), before)
        },
        ConformanceCheck("names Apple, Google and the thief's client as those who ended tokens") { store in
            let grant = try await store.link(1, key: .sample("one"))
            try await store.link(2, key: .sample("two"))
            try await store.notify(
                .sample(.consentRevoked, key: .sample("one"), at: 3_000_000, identifier: "jti-one"))
            try await store.refresh(.sample(SampleToken(family: 2)))
            try await expectGrantRefusal(.refreshTokenReused) {
                try await store.refresh(.sample(SampleToken(family: 2), at: 90_000_000))
            }
            let rows = try await store.verifiedAudit().dropFirst(4)
            try expectEqual(
                rows.map(\.facts.action), [.tokensEnded, .grantEnded, .tokensEnded, .grantEnded])
            try expectEqual(
                rows.map(\.facts.actor), [.apple, .apple, .oauthClient("phone"), .oauthClient("phone")])
            try expectEqual(
                rows.map(\.facts.reason),
                ["consent_revoked", "consent_revoked", "token_reused", "token_reused"])
            try expectEqual(rows.first?.entry.person?.account, grant.accountID)
        },
        ConformanceCheck("keeps the fact of an erasure and drops the person, and the chain still verifies") {
            store in
            let grant = try await store.link()
            let other = try await store.link(2, key: .sample("other"))
            let account = try unwrap(try await store.account(grant.accountID))
            try await store.appendAudit([.show(account.id)])
            let before = try await store.verifiedAudit()
            let chain = try await store.auditChain()
            try await store.erase(.sample(account: account, at: 9_000_000))
            let (rows, verification) = try await store.walkedAudit(expected: chain.head)
            try expectEqual(rows.prefix(before.count).map(\.facts), before.map(\.facts))
            try expectEqual(rows.map(\.link).prefix(before.count), before.map(\.link)[...])
            try expectEqual(Set(rows.compactMap(\.entry.person?.account)), [other.accountID])
            try expectEqual(verification.anonymous, rows.count - 2)
            try expectEqual(
                rows.dropFirst(before.count).map(\.facts.action), [.accountErased, .tokensEnded, .grantEnded])
            try expectEqual(
                try await store.auditRows(before: .max, of: account.id, limit: 10).count, 0)
            // Also an operator who had the page open before the erasure.
            try await store.appendAudit([.show(account.id)])
            let last = try unwrap(try await store.verifiedAudit().last)
            try expectEqual(last.facts.action, .consoleShow)
            try expectEqual(last.entry.person, nil)
            try expect(last.entry.personDigest != nil, "the fact is there")
        },
        ConformanceCheck("keeps a row of a change that the caller was not allowed to make") { store in
            let account = try await store.signIn(.sample()).account
            try await store.signIn(.sample(clientID: "com.example.other"))
            let scope = AppScope.only(["com.example.app"])
            try await AuditOrigin.$current.withValue(AuditOrigin(.apiKey("limited"))) {
                try await expectRefusal(.callerForbidden) {
                    try await store.change(DisableCommand.sample(account, scope: scope))
                }
                try await expectRefusal(.callerForbidden) {
                    try await store.erase(.sample(account: account, at: 3_000_000, scope: scope))
                }
            }
            let rows = try await store.verifiedAudit()
            try expectEqual(rows.map(\.facts.action), [.accountDisabled, .accountErased])
            try expectEqual(rows.map(\.facts.outcome), [.refused, .refused])
            try expectEqual(rows.map(\.facts.reason), ["caller_forbidden", "caller_forbidden"])
            try expectEqual(rows.map(\.entry.person?.account), [account.id, account.id])
        },
        ConformanceCheck("writes bounded rows of one user who signs in to a client without end") { store in
            let grant = try await store.link()
            let account = grant.accountID
            func redeem(_ number: UInt64, at moment: Moment, client: OAuthClientID = "phone") async throws {
                try await store.authorize(.sample(number, account: account, client: client, at: moment))
                try await store.redeem(.sample(number, client: client, at: moment))
            }
            for number in 2...100 as ClosedRange<UInt64> { try await redeem(number, at: 2_010_000) }
            try await expectGrantRefusal(.tooManyFamilies) { try await redeem(101, at: 2_010_000) }
            let rows = try await store.verifiedAudit()
            // No row of the 90 families that newer families have displaced.
            try expectEqual(
                rows.map(\.facts.action), [.grantCreated] + Array(repeating: .tokensIssued, count: 100))
            try expectEqual(try await store.pace(of: account, for: "phone")?.families, 100)
            // The code waits, another client has its own bound, and the families refresh.
            try await redeem(200, at: 2_010_000, client: "tablet")
            try await store.refresh(.sample(SampleToken(family: 100), at: 2_020_000))
            try await store.authorize(.sample(102, account: account, at: 5_500_000))
            try await expectGrantRefusal(.tooManyFamilies) {
                try await store.redeem(.sample(102, at: 5_599_999))
            }
            try await store.redeem(.sample(102, at: 5_600_000))
        },
        ConformanceCheck("writes one row of sign-outs that are repeated within an hour") { store in
            let account = try await store.signIn(.sample()).account
            func rows(afterSignOutAt moment: Moment) async throws -> Int {
                try await store.change(SignOutCommand.sample(account, at: moment))
                let audit = try await store.verifiedAudit()
                return audit.count
            }
            try expectEqual(try await rows(afterSignOutAt: 2_000_000), 1)
            try expectEqual(try await rows(afterSignOutAt: 2_000_001), 1)
            try expectEqual(try await rows(afterSignOutAt: 5_600_000), 1)
            try expectEqual(try await rows(afterSignOutAt: 9_200_000), 2)
            // After a sign-in there is a session to end.
            try await store.signIn(.sample(authorizedAt: 9_300_000))
            try expectEqual(try await rows(afterSignOutAt: 9_400_000), 3)
            // The feed has an event of each.
            try expectEqual(try await store.eventKinds().count { $0 == .sessionsEnded }, 5)
        },
        ConformanceCheck("chains many rows of one transaction, and rows of its several groups") { store in
            var accounts: [Account] = []
            for number in 0..<40 {
                accounts.append(try await store.signIn(.sample(key: .sample("user-\(number)"))).account)
            }
            let commands = accounts.flatMap { account in
                [.disable(.sample(account)), .signOut(.sample(account))] as [AccountCommand]
            }
            let erasures = accounts.prefix(3).enumerated().map { number, account in
                AccountCommand.erase(.sample(UInt64(number + 1), account: account, at: 9_000_000))
            }
            _ = try await store.commit(commands + erasures + [.enable(.sample(accounts[5]))])
            let rows = try await store.verifiedAudit()
            try expectEqual(rows.count, 84)
            try expectEqual(rows.count { $0.entry.person == nil }, 9)
        },
        ConformanceCheck("pages through the audit log, and finds the rows of an account and of a time") {
            store in
            let account = try await store.signIn(.sample()).account
            for second in 1...10 as ClosedRange<Int64> {
                try await store.appendAudit([.show(second % 2 == 0 ? account.id : nil, at: second * 1000)])
            }
            try expectEqual(try await store.auditRows(after: 7, limit: 2).map(\.sequence), [8, 9])
            try expectEqual(
                try await store.auditRows(before: 4, of: nil, limit: 2).map(\.sequence), [3, 2])
            try expectEqual(
                try await store.auditRows(before: .max, of: account.id, limit: 3).map(\.sequence), [10, 8, 6])
            try expectEqual(
                try await store.auditRows(before: 6, of: account.id, limit: 3).map(\.sequence), [4, 2])
            try expectEqual(try await store.auditSequence(at: Moment(milliseconds: 4999)), 4)
            try expectEqual(try await store.auditSequence(at: 999), 0)
            try expectEqual(try await store.auditSequence(at: .last), 10)
        },
        ConformanceCheck("purges the beginning of the audit log, and the rest verifies from the anchor") {
            store in
            for second in 1...10 as ClosedRange<Int64> {
                // One clock was late: only a beginning of the chain may go.
                try await store.appendAudit([.show(nil, at: second == 3 ? 90_000 : second * 1000)])
            }
            let middle = try unwrap(try await store.verifiedAudit().dropFirst(5).first).link
            try expectEqual(try await store.purgeAudit(before: 1000, at: 100_000), 0)
            try expectEqual(try await store.purgeAudit(before: 6000, at: 100_000), 2)
            try expectEqual(try await store.purgeAudit(before: 6000, at: 100_000), 0)
            let (rows, verification) = try await store.walkedAudit(expected: middle)
            try expectEqual(rows.map(\.sequence), Array(3...11))
            try expectEqual(verification.rowsSinceExpected, 5)
            try expectEqual(rows.last?.facts.action, .auditPurged)
            try expectEqual(try await store.auditChain().anchor.sequence, 2)
            try expectEqual(try await store.purgeAudit(before: .last, at: 200_000), 9)
            try expectEqual(try await store.verifiedAudit().map(\.facts.action), [.auditPurged])
        },
        ConformanceCheck("purges old rows in steps, and the rest verifies after each of them") { store in
            let step = AuditPurge.largestStep
            let times = Array(repeating: 1000 as Int64, count: 3 * step + step / 2) + [50_000, 1000]
            try await store.appendAudit(times.map { .show(nil, at: $0) })
            for count in [step, step, step, step / 2, 0, 0] {
                try expectEqual(try await store.purgeAudit(before: 6000, at: 100_000), count)
                let anchor = try await store.auditChain().anchor.sequence
                try expectEqual(try await store.verifiedAudit().first?.sequence, anchor + 1)
            }
            try expectEqual(
                try await store.verifiedAudit().map(\.facts.moment.milliseconds),
                [50_000, 1000, 100_000, 100_000, 100_000, 100_000])
        },
        ConformanceCheck("rows of a clock that was years ahead do not keep older and younger rows for years")
        {
            store in
            let (ahead, step) = (Int64(9_000_000_000), AuditPurge.largestStep)
            // More of the future than one step deletes, and some that no old row follows.
            let times =
                [1000] + Array(repeating: ahead, count: step + 5) + [5000, ahead, 50_000, ahead, 5000]
            try await store.appendAudit(times.map { .show(nil, at: $0) })
            try expectEqual(try await store.purgeAudit(before: 6000, at: 100_000), step)
            try expectEqual(try await store.purgeAudit(before: 6000, at: 100_000), 7)
            try expectEqual(try await store.purgeAudit(before: 6000, at: 100_000), 0)
            try expectEqual(
                try await store.verifiedAudit().map(\.facts.moment.milliseconds),
                [ahead, 50_000, ahead, 5000, 100_000, 100_000])
            try expectEqual(try await store.purgeAudit(before: 60_000, at: 100_000), 4)
            try expectEqual(try await store.purgeAudit(before: 60_000, at: 100_000), 0)
        },
        ConformanceCheck("a clock that is behind all rows purges none of them") { store in
            let times = Array(repeating: 5_000_000 as Int64, count: AuditPurge.largestStep + 5)
            try await store.appendAudit(times.map { .show(nil, at: $0) })
            try expectEqual(try await store.purgeAudit(before: 0, at: 1000), 0)
            try expectEqual(try await store.purgeAudit(before: 1000, at: 4000), 0)
            try expectEqual(try await store.verifiedAudit().count, times.count)
        },
        ConformanceCheck("notes what changed in the configuration since the last start, once") { store in
            let first = ["api_key backend": "aaaa", "sealing_key k1": "bbbb", "setting SIWA_PORT": "cccc"]
            try expectEqual(try await store.noteConfiguration(first, at: 1000).count, 3)
            try expectEqual(try await store.noteConfiguration(first, at: 2000), [])
            let second = ["api_key backend": "dddd", "sealing_key k2": "eeee", "setting SIWA_PORT": "cccc"]
            let changes = try await store.noteConfiguration(second, at: 3000)
            try expectEqual(
                changes,
                [
                    ConfigurationChange(item: "api_key backend", before: "aaaa", after: "dddd"),
                    ConfigurationChange(item: "sealing_key k1", before: "bbbb", after: nil),
                    ConfigurationChange(item: "sealing_key k2", before: nil, after: "eeee"),
                ])
            try expectEqual(try await store.noteConfiguration(second, at: 4000), [])
            let rows = try await store.verifiedAudit()
            try expectEqual(rows.count, 6)
            try expectEqual(rows[3].facts.detail, "api_key backend: changed from aaaa to dddd")
            try expectEqual(Set(rows.map(\.facts.actor)), [.service])
        },
        ConformanceCheck("keeps since when a part of the configuration is as it is") { store in
            try expectEqual(try await store.configurationParts(), [])
            _ = try await store.noteConfiguration(["key a": "1111", "key b": "2222"], at: 1000)
            _ = try await store.noteConfiguration(["key a": "1111", "key b": "3333", "key c": "4"], at: 2000)
            try expectEqual(
                Set(try await store.configurationParts()),
                [
                    SeenConfigurationPart(item: "key a", fingerprint: "1111", firstSeenAt: 1000),
                    SeenConfigurationPart(item: "key b", fingerprint: "3333", firstSeenAt: 2000),
                    SeenConfigurationPart(item: "key c", fingerprint: "4", firstSeenAt: 2000),
                ])
            // A part that was away begins anew.
            _ = try await store.noteConfiguration(["key b": "3333"], at: 3000)
            _ = try await store.noteConfiguration(["key a": "1111", "key b": "3333"], at: 4000)
            try expectEqual(
                Set(try await store.configurationParts()),
                [
                    SeenConfigurationPart(item: "key a", fingerprint: "1111", firstSeenAt: 4000),
                    SeenConfigurationPart(item: "key b", fingerprint: "3333", firstSeenAt: 2000),
                ])
        },
        ConformanceCheck("notes a receiver that is resumed or gets events again, and none that is unknown") {
            store in
            try await store.addReceivers(["backend"], at: 1000)
            let command = AuditOrigin(.command("deliveries resume"))
            try await AuditOrigin.$current.withValue(command) {
                try expectEqual(try await store.resumeReceiver("backend", at: 2000), true)
                try expectEqual(try await store.resumeReceiver("nobody", at: 2000), false)
                try expectEqual(try await store.moveReceiver("backend", to: 0, at: 3000), true)
                try expectEqual(try await store.moveReceiver("nobody", to: 0, at: 3000), false)
            }
            let rows = try await store.verifiedAudit()
            try expectEqual(rows.map(\.facts.action), [.deliveryResumed, .deliveryReplayed])
            try expectEqual(rows.map(\.facts.detail), ["backend", "backend after event 0"])
            try expectEqual(Set(rows.map(\.facts.actor)), [command.actor])
        },
        ConformanceCheck("keeps texts of any length and sign in the audit log") { store in
            let long = String(repeating: "ü\u{0}", count: 400)
            try await store.appendAudit([
                AuditEntry(
                    .consoleShow, by: AuditOrigin(.consoleOperator(long), requestID: long), at: .last,
                    reason: long, detail: long)
            ])
            let rows = try await store.verifiedAudit()
            try expectEqual(rows.first?.facts.detail?.unicodeScalars.count, 500)
            try expectEqual(rows.first?.facts.requestID?.unicodeScalars.count, 255)
        },
    ]
}

extension AuditEntry {
    fileprivate static func show(_ account: AccountID?, at milliseconds: Int64 = 5_000_000) -> AuditEntry {
        AuditEntry(
            .consoleShow, by: AuditOrigin(.consoleOperator("ops"), requestID: "r-2"),
            at: Moment(milliseconds: milliseconds), person: account.map { AuditPerson($0) })
    }
}

extension AuditStore {
    /// Returns all rows after it has verified their chain.
    public func verifiedAudit() async throws -> [AuditRow] { try await walkedAudit().rows }

    /// Returns all rows, and the verification of their chain.
    public func walkedAudit(
        expected: AuditLink? = nil
    ) async throws -> (rows: [AuditRow], verification: AuditVerification) {
        var verification = AuditVerification(try await auditChain(), expected: expected?.hash)
        var rows: [AuditRow] = []
        while true {
            // From the anchor, which a row of number 0 or more precedes.
            let page = try await auditRows(after: verification.verified.sequence, limit: 100)
            for row in page { try verification.check(row) }
            rows += page
            guard page.count == 100 else { break }
        }
        try verification.finish()
        return (rows, verification)
    }
}
