import AppleAccounts

extension ConformanceCheck {
    static let nonces = [
        ConformanceCheck("uses a minted nonce once") { store in
            try await store.carryOut(mint(1, until: 10_000))
            try await store.signIn(.sample(nonce: .sample(1), receivedAt: 5000))
            try await expectRefusal(.nonceUsed) {
                try await store.signIn(.sample(nonce: .sample(1), receivedAt: 6000))
            }
        },
        ConformanceCheck("refuses a nonce that was never minted") { store in
            try await store.carryOut(mint(1, until: 10_000))
            try await expectRefusal(.nonceExpired) {
                try await store.signIn(.sample(nonce: .sample(2), receivedAt: 5000))
            }
            try expectEqual(try await store.account(.sample()), nil)
        },
        ConformanceCheck("refuses a nonce whose time is over") { store in
            try await store.carryOut(mint(1, until: 10_000))
            try await expectRefusal(.nonceExpired) {
                try await store.signIn(.sample(nonce: .sample(1), receivedAt: 10_000))
            }
            try await store.signIn(.sample(nonce: .sample(1), receivedAt: 9999))
        },
        ConformanceCheck("does not use up the nonce of a refused sign-in") { store in
            try await store.carryOut(mint(1, until: 10_000))
            try await expectRefusal(.accountNotFound) {
                try await store.signIn(.sample(createsAccount: false, nonce: .sample(1), receivedAt: 5000))
            }
            try await store.signIn(.sample(nonce: .sample(1), receivedAt: 5000))
        },
        ConformanceCheck("uses a nonce once within one batch") { store in
            let signIn = AccountCommand.signIn(.sample(nonce: .sample(1), receivedAt: 5000))
            let result = try await store.commit([mint(1, until: 10_000), signIn, signIn])
            try expectEqual(result.results[2], .refused(AccountRefusal(.nonceUsed)))
            try await expectRefusal(.nonceUsed) { try await store.carryOut(signIn) }
        },
        ConformanceCheck("uses up a minted nonce that the token carries though the caller posted none") {
            store in
            try await store.carryOut(mint(1, until: 10_000))
            try await store.signIn(.sample(carriedNonce: .sample(1), receivedAt: 5000))
            try await expectRefusal(.nonceUsed) {
                try await store.signIn(.sample(carriedNonce: .sample(1), receivedAt: 6000))
            }
            try await expectRefusal(.nonceUsed) {
                try await store.signIn(.sample(nonce: .sample(1), receivedAt: 6000))
            }
        },
        ConformanceCheck("lets a token carry a nonce that was never minted here") { store in
            try await store.signIn(.sample(carriedNonce: .sample(3), receivedAt: 5000))
            try await store.signIn(.sample(carriedNonce: .sample(3), receivedAt: 6000))
        },
        ConformanceCheck("does not mint a used nonce again") { store in
            try await store.carryOut(mint(1, until: 10_000))
            try await store.signIn(.sample(nonce: .sample(1), receivedAt: 5000))
            try await store.carryOut(mint(1, until: 90_000))
            try await expectRefusal(.nonceUsed) {
                try await store.signIn(.sample(nonce: .sample(1), receivedAt: 6000))
            }
        },
        ConformanceCheck("forgets nonces whose time is over") { store in
            try await store.carryOut(mint(1, until: 10_000))
            try await store.carryOut(mint(2, until: 20_000))
            try await store.signIn(.sample(nonce: .sample(2), receivedAt: 5000))
            try expectEqual(try await store.purgeNonces(expiredBefore: 10_000), 0)
            try expectEqual(try await store.purgeNonces(expiredBefore: 10_001), 1)
            try expectEqual(try await store.purgeNonces(expiredBefore: 10_001), 0)
            try await expectRefusal(.nonceUsed) {
                try await store.signIn(.sample(nonce: .sample(2), receivedAt: 6000))
            }
        },
    ]

    private static func mint(_ byte: UInt8, until moment: Moment) -> AccountCommand {
        .mintNonce(NonceRecord(digest: .sample(byte), expiresAt: moment))
    }
}
