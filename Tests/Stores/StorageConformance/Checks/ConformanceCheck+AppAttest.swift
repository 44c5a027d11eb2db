import AppAttestation
import AppleAccounts

extension ConformanceCheck {
    static let appAttest = [
        ConformanceCheck("registers a key of App Attest") { store in
            try expectEqual(try await store.attestedKey(.sample()), nil)
            let key = AttestedKeyRecord.sample(environment: .development)
            try expectEqual(
                try await store.register(.sample(key, challenge: 1)), RegisteredKey(key: key, isNew: true))
            try expectEqual(try await store.attestedKey(.sample()), key)
            try expectEqual(try await store.attestedKey(.sample(2)), nil)
            if let found = store.attestedKeyWithoutWaiting(.sample()) { try expectEqual(found, key) }
        },
        ConformanceCheck("keeps the facts of the last proof of a key that held") { store in
            let attested = AttestedAppFacts(validationCategory: .max, bundleVersion: "1")
            let key = AttestedKeyRecord.sample(facts: attested)
            try await store.register(.sample(key, challenge: 1))
            try expectEqual(try await store.attestedKey(.sample())?.facts, attested)
            // A repeated registration changes nothing.
            try await store.register(.sample(challenge: 2))
            try expectEqual(try await store.attestedKey(.sample())?.facts, attested)
            let longest = String(repeating: "9", count: AttestedAppFacts.longestBundleVersion)
            for (number, facts) in [
                AttestedAppFacts(validationCategory: 0, bundleVersion: "2"),
                AttestedAppFacts(bundleVersion: longest), .none, AttestedAppFacts(validationCategory: 4),
            ].enumerated() {
                let counter = UInt32(number + 1)
                try await store.use(.sample(challenge: 10 + number, counter: counter, facts: facts))
                try expectEqual(try await store.attestedKey(.sample())?.facts, facts)
                try await expectRefusal(.counterNotIncreased) {
                    try await store.use(
                        .sample(challenge: 20 + number, counter: counter, facts: attested))
                }
                try expectEqual(try await store.attestedKey(.sample())?.facts, facts)
            }
        },
        ConformanceCheck("registers a key once, and never sets its counter back") { store in
            try await store.register(.sample(challenge: 1))
            try await store.use(.sample(challenge: 2, counter: 9))
            let again = try await store.register(.sample(.sample(createdAt: 5_000_000), challenge: 3))
            try expectEqual(again, RegisteredKey(key: .sample(counter: 9), isNew: false))
            try await expectRefusal(.counterNotIncreased) {
                try await store.use(.sample(challenge: 4, counter: 9))
            }
        },
        ConformanceCheck("finds a registered key with its used challenge, and with an expired one") { store in
            let first = RegisterKeyCommand.sample(challenge: 1)
            let twice = try await store.commit([.registerKey(first), .registerKey(first)]).results
            let known = CommandResult.done(.keyRegistered(RegisteredKey(key: .sample(), isNew: false)))
            try expectEqual(
                twice, [.done(.keyRegistered(RegisteredKey(key: .sample(), isNew: true))), known])
            try await store.use(.sample(challenge: 2, counter: 9))
            let used = RegisteredKey(key: .sample(counter: 9), isNew: false)
            for challenge in [1, 2, nil] {
                try expectEqual(try await store.register(.sample(challenge: challenge)), used)
            }
            // Not for another app, and a new key needs a challenge.
            try await expectRefusal(.challengeUsed) {
                try await store.register(.sample(.sample(app: .sample("com.other")), challenge: 1))
            }
            try await expectRefusal(.attestationKeyUnknown) {
                try await store.register(.sample(.sample(app: .sample("com.other")), challenge: nil))
            }
            try await expectRefusal(.attestationKeyUnknown) {
                try await store.register(.sample(.sample(2), challenge: nil))
            }
            try expectEqual(try await store.attestedKey(.sample(2)), nil)
        },
        ConformanceCheck("gives a key to no second app") { store in
            try await store.register(.sample(challenge: 1))
            try await expectRefusal(.attestationKeyTaken) {
                try await store.register(.sample(.sample(app: .sample("com.other")), challenge: 2))
            }
            try expectEqual(try await store.attestedKey(.sample()), .sample())
        },
        ConformanceCheck("consumes a challenge once, whatever the result is") { store in
            try await store.register(.sample(challenge: 1))
            for challenge in 1...3 {
                // The second is consumed by a refused command, and the third by a proof that failed before.
                if challenge == 2 { try await expectRefused(store, .sample(challenge: 2, counter: 0)) }
                if challenge == 3 { try await store.use(.sample(challenge: 3, counter: nil)) }
                try await expectRefusal(.challengeUsed) {
                    try await store.use(.sample(challenge: challenge, counter: 5))
                }
                try await expectRefusal(.challengeUsed) {
                    try await store.register(.sample(.sample(2), challenge: challenge))
                }
            }
            try expectEqual(try await store.attestedKey(.sample())?.counter, 0)
            try await store.use(.sample(challenge: 4, counter: 5))
        },
        ConformanceCheck("raises a counter, and refuses counters that are not above it") { store in
            try await store.register(.sample(challenge: 0))
            for (number, counter) in [1, 2, 7, 2_147_483_648, UInt32.max].enumerated() {
                try await store.use(.sample(challenge: 10 * number + 1, counter: counter))
                try expectEqual(try await store.attestedKey(.sample())?.counter, counter)
                for (offset, old) in [counter, counter - 1, 0].enumerated() {
                    try await expectRefusal(.counterNotIncreased) {
                        try await store.use(.sample(challenge: 10 * number + 2 + offset, counter: old))
                    }
                }
                try expectEqual(try await store.attestedKey(.sample())?.counter, counter)
            }
        },
        ConformanceCheck("accepts one of equal counters within one batch") { store in
            try await store.register(.sample(challenge: 0))
            let commands = (1...3).map { AccountCommand.useProof(.sample(challenge: $0, counter: 4)) }
            let refused = CommandResult.refused(AccountRefusal(.counterNotIncreased))
            try expectEqual(try await store.commit(commands).results, [.done(.proofUsed), refused, refused])
            try expectEqual(try await store.attestedKey(.sample())?.counter, 4)
        },
        ConformanceCheck("registers and uses a key within one batch") { store in
            let result = try await store.commit([
                .registerKey(.sample(challenge: 1)), .useProof(.sample(challenge: 2, counter: 3)),
                .registerKey(.sample(.sample(2), challenge: 3)),
                .useProof(.sample(challenge: 4, key: .sample(2), counter: 1)),
            ])
            try expectEqual(result.results.count { if case .done = $0 { true } else { false } }, 4)
            try expectEqual(try await store.attestedKey(.sample())?.counter, 3)
            try expectEqual(try await store.attestedKey(.sample(2))?.counter, 1)
        },
        ConformanceCheck("refuses the proof of an unknown key, and of another app's key") { store in
            try await store.register(.sample(challenge: 0))
            try await expectRefusal(.attestationKeyUnknown) {
                try await store.use(.sample(challenge: 1, key: .sample(2), counter: 1))
            }
            try await expectRefusal(.attestationKeyUnknown) {
                try await store.use(.sample(challenge: 2, app: .sample("com.other"), counter: 1))
            }
        },
        ConformanceCheck("raises the counter with the sign-in, after its other checks") { store in
            try await store.register(.sample(challenge: 0))
            try await expectRefusal(.accountNotFound) {
                try await store.signIn(
                    .sample(createsAccount: false, proof: .sample(challenge: 1, counter: 5)))
            }
            try expectEqual(try await store.attestedKey(.sample())?.counter, 0)
            try await expectRefusal(.challengeUsed) {
                try await store.signIn(
                    .sample(proof: .sample(challenge: 1, counter: 5), demandsProof: true))
            }
            for challenge in 2...3 {
                // A new user, and then a known one.
                let outcome = try await store.signIn(
                    .sample(
                        proof: .sample(challenge: challenge, counter: UInt32(challenge)), demandsProof: true))
                try expectEqual(outcome.proofRefusal, nil)
                try expectEqual(try await store.attestedKey(.sample())?.counter, UInt32(challenge))
            }
        },
        ConformanceCheck("signs nobody in without a demanded proof") { store in
            try await store.register(.sample(challenge: 0))
            try await store.use(.sample(challenge: 1, counter: 5))
            try await expectRefusal(.counterNotIncreased) {
                try await store.signIn(
                    .sample(
                        nonce: .sample(1), proof: .sample(challenge: 2, counter: 5), demandsProof: true))
            }
            try expectEqual(try await store.account(.sample()), nil)
            // The nonce was not used up.
            try await store.signIn(.sample(nonce: .sample(1)))
        },
        ConformanceCheck("signs in with a proof that does not hold and is not demanded, and says so") {
            store in
            try await store.register(.sample(challenge: 0))
            try await store.use(.sample(challenge: 1, counter: 5))
            let proofs: [(AppProof, AccountRefusal.Code?)] = [
                (.sample(challenge: 2, counter: 5), .counterNotIncreased),
                (.sample(challenge: 2, counter: 6), .challengeUsed),
                (.sample(challenge: 3, key: .sample(2), counter: 6), .attestationKeyUnknown),
                (.sample(challenge: 4, counter: nil), nil),
            ]
            for (proof, refusal) in proofs {
                try expectEqual(try await store.signIn(.sample(proof: proof)).proofRefusal, refusal)
            }
            try expectEqual(try await store.attestedKey(.sample())?.counter, 5)
        },
        ConformanceCheck("keeps no more keys of an app than are allowed") { store in
            for number in 1...3 {
                try await store.register(.sample(.sample(number), challenge: number, mostKeys: 3))
            }
            try await expectRefusal(.attestationKeysFull) {
                try await store.register(.sample(.sample(4), challenge: 4, mostKeys: 3))
            }
            // A known key, and another app, are still accepted.
            try await store.register(.sample(challenge: 5, mostKeys: 3))
            try await store.register(
                .sample(.sample(5, app: .sample("com.other")), challenge: 6, mostKeys: 3))
            let batch = (10...14).map { number in
                AccountCommand.registerKey(
                    .sample(.sample(number, app: .sample("com.third")), challenge: number, mostKeys: 3))
            }
            let full = CommandResult.refused(AccountRefusal(.attestationKeysFull))
            try expectEqual(try await store.commit(batch).results.suffix(2), [full, full])
        },
        ConformanceCheck("deletes keys that were not used for long, and counts them no more") { store in
            let day = AttestedKeyRecord.usePrecision
            for number in 1...3 {
                try await store.register(.sample(.sample(number), challenge: number, mostKeys: 3))
            }
            let later = Moment(milliseconds: 1_000_000 + day)
            try await store.use(.sample(challenge: 4, counter: 1, receivedAt: later))
            // Within a day of the last use the time is not written.
            try await store.use(
                .sample(
                    challenge: 5, key: .sample(2), counter: 1, receivedAt: later.advanced(byMilliseconds: -1))
            )
            try expectEqual(try await store.attestedKey(.sample())?.usedAt, later)
            try expectEqual(try await store.attestedKey(.sample(2))?.usedAt, 1_000_000)
            try expectEqual(try await store.purgeAttestedKeys(unusedSince: 1_000_000), 0)
            try expectEqual(try await store.purgeAttestedKeys(unusedSince: later), 2)
            try expectEqual(try await store.purgeAttestedKeys(unusedSince: later), 0)
            try expectEqual(try await store.attestedKey(.sample(2)), nil)
            try expectEqual(try await store.attestedKey(.sample())?.counter, 1)
            for number in 6...7 {
                try await store.register(.sample(.sample(number), challenge: number, mostKeys: 3))
            }
            try await expectRefusal(.attestationKeysFull) {
                try await store.register(.sample(.sample(8), challenge: 8, mostKeys: 3))
            }
        },
    ]

    private static func expectRefused(
        _ store: any ConformingStore, _ command: UseProofCommand
    ) async throws {
        try await expectRefusal(.counterNotIncreased) { try await store.use(command) }
    }
}

extension ConformanceCheck {
    static let appReceipts = [
        ConformanceCheck("claims a due receipt of App Attest once") { store in
            let key = try await registered(in: store)
            try expectEqual(try await store.nextReceiptDue(), 5_000_000)
            try expectEqual(try await claim(store, at: 4_999_999), [])
            try expectEqual(try await claim(store, at: 5_000_000), [key])
            try expectEqual(try await claim(store, at: 5_000_000), [])
            // The claim ends by itself.
            try expectEqual(try await store.nextReceiptDue(), 6_000_000)
            try expectEqual(try await claim(store, at: 6_000_000).map(\.id), [key.id])
        },
        ConformanceCheck("replaces the claimed receipt of App Attest, and no other") { store in
            let key = try await registered(in: store)
            let refreshed = RefreshedReceipt(sealed: receipt(2), riskMetric: 3, refreshAt: 7_000_000)
            try await store.replaceReceipt(of: key, by: refreshed)
            let stored = key.with(receipt: receipt(2), refreshAt: 7_000_000, riskMetric: 3)
            try expectEqual(try await store.attestedKey(key.id), stored)
            try await store.postponeReceipt(of: key, until: 9_000_000)
            try await store.dropReceipt(of: key)
            try await store.replaceReceipt(
                of: key, by: RefreshedReceipt(sealed: receipt(1), riskMetric: 9, refreshAt: 9_000_000))
            try expectEqual(try await store.attestedKey(key.id), stored)
        },
        ConformanceCheck("postpones and drops a receipt of App Attest, and keeps the counter") { store in
            let key = try await registered(in: store)
            try await store.replaceReceipt(
                of: key, by: RefreshedReceipt(sealed: receipt(2), riskMetric: 3, refreshAt: 7_000_000))
            let stored = key.with(receipt: receipt(2), refreshAt: 7_000_000, riskMetric: 3)
            try await store.postponeReceipt(of: stored, until: 8_000_000)
            try expectEqual(try await store.nextReceiptDue(), 8_000_000)
            try await store.use(.sample(challenge: 3, counter: 5))
            try await store.dropReceipt(of: stored)
            let dropped = try await store.attestedKey(key.id)
            try expectEqual(dropped?.receipt, nil)
            try expectEqual(dropped?.receiptRefreshAt, nil)
            try expectEqual(dropped?.riskMetric, 3)
            try expectEqual(dropped?.counter, 5)
            try expectEqual(try await store.nextReceiptDue(), nil)
        },
    ]

    /// Registers a key with a receipt, and another key without.
    private static func registered(in store: any ConformingStore) async throws -> AttestedKeyRecord {
        let key = AttestedKeyRecord.sample().with(
            receipt: receipt(1), refreshAt: 5_000_000, riskMetric: nil)
        try await store.register(.sample(key, challenge: 1))
        try await store.register(.sample(.sample(2), challenge: 2))
        return key
    }

    private static func claim(
        _ store: any ConformingStore, at moment: Moment
    ) async throws -> [AttestedKeyRecord] {
        try await store.claimReceipts(
            limit: 8, at: moment, leaseUntil: moment.advanced(byMilliseconds: 1_000_000))
    }

    private static func receipt(_ number: UInt8) -> SealedSecret {
        guard let sealed = SealedSecret([number, 1, 2, 3]) else {
            preconditionFailure("four bytes are a sealed secret")
        }
        return sealed
    }
}
