import AppleAccounts

extension ConformanceCheck {
    static let nonces = [
        ConformanceCheck("uses a minted nonce once") { store in
            try await store.signIn(.sample(nonce: .sample(1, until: 10_000), receivedAt: 5000))
            try await expectRefusal(.nonceUsed) {
                try await store.signIn(.sample(nonce: .sample(1, until: 10_000), receivedAt: 6000))
            }
            try await store.signIn(.sample(nonce: .sample(2, until: 10_000), receivedAt: 6000))
        },
        ConformanceCheck("refuses a nonce that was never minted") { store in
            try await expectRefusal(.nonceExpired) {
                try await store.signIn(.sample(nonce: .unproven(.sample(2)), receivedAt: 5000))
            }
            try expectEqual(try await store.account(.sample()), nil)
        },
        ConformanceCheck("refuses a nonce whose time is over") { store in
            try await expectRefusal(.nonceExpired) {
                try await store.signIn(.sample(nonce: .sample(1, until: 10_000), receivedAt: 10_000))
            }
            try await store.signIn(.sample(nonce: .sample(1, until: 10_000), receivedAt: 9999))
        },
        ConformanceCheck("does not use up the nonce of a refused sign-in") { store in
            try await expectRefusal(.accountNotFound) {
                try await store.signIn(.sample(createsAccount: false, nonce: .sample(1)))
            }
            try await store.signIn(.sample(nonce: .sample(1)))
        },
        ConformanceCheck("uses a nonce once within one batch") { store in
            let signIn = AccountCommand.signIn(.sample(nonce: .sample(1)))
            let result = try await store.commit([signIn, signIn])
            try expectEqual(result.results[1], .refused(AccountRefusal(.nonceUsed)))
            try await expectRefusal(.nonceUsed) { try await store.carryOut(signIn) }
        },
        ConformanceCheck("uses many nonces in one batch, of known users and of new ones") { store in
            try await store.signIn(.sample(key: .sample("p1")))
            let signIns = (1...20).map { number in
                AccountCommand.signIn(
                    .sample(key: .sample("p\(number % 4)"), nonce: .sample(UInt8(number))))
            }
            let result = try await store.commit(signIns)
            try expectEqual(
                result.results.count {
                    if case .done(.signedIn) = $0 { true } else { false }
                }, 20)
            let again = try await store.commit(signIns.reversed())
            try expectEqual(again.results.count { $0 == .refused(AccountRefusal(.nonceUsed)) }, 20)
        },
        ConformanceCheck("knows a used nonce in the token though the caller posted none") { store in
            try await store.signIn(.sample(nonce: .sample(1)))
            for nonce in [.carried(.sample(1)), .unproven(.sample(1))] as [SignInNonce] {
                try await expectRefusal(.nonceUsed) { try await store.signIn(.sample(nonce: nonce)) }
            }
        },
        ConformanceCheck("lets a token carry a nonce that was never minted here") { store in
            try await store.signIn(.sample(nonce: .carried(.sample(3)), receivedAt: 5000))
            try await store.signIn(.sample(nonce: .carried(.sample(3)), receivedAt: 6000))
        },
        ConformanceCheck("keeps the digest of a used nonce for as long as its token may be valid") { store in
            try await store.signIn(.sample(nonce: .sample(1, keptUntil: 20_000)))
            try await store.signIn(.sample(nonce: .sample(2, keptUntil: 30_000)))
            try expectEqual(try await store.purgeNonces(expiredBefore: 20_000), 0)
            try expectEqual(try await store.purgeNonces(expiredBefore: 20_001), 1)
            try expectEqual(try await store.purgeNonces(expiredBefore: 20_001), 0)
            try await expectRefusal(.nonceUsed) {
                try await store.signIn(.sample(nonce: .carried(.sample(2))))
            }
            try await store.signIn(.sample(nonce: .carried(.sample(1))))
        },
        ConformanceCheck("keeps the first key for nonces, and gives it to all") { store in
            let first = try await store.nonceKey(offering: .sample(1))
            try expectEqual(first, .sample(1))
            try expectEqual(try await store.nonceKey(offering: .sample(2)), .sample(1))
        },
    ]
}
