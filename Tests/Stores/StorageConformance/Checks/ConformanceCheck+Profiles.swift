import AppleAccounts

extension ConformanceCheck {
    static let profiles = [
        ConformanceCheck("fills in a name that is missing and overwrites none") { store in
            try await store.signIn(.sample(firstName: "", lastName: "Lovelace"))
            try await store.signIn(.sample(firstName: "Ada", lastName: ""))
            try await store.signIn(.sample(firstName: "Grace", lastName: "Hopper"))
            try await store.signIn(.sample())
            let account = try unwrap(try await store.account(.sample()))
            try expectEqual(account.profile.firstName, "Ada")
            try expectEqual(account.profile.lastName, "Lovelace")
        },
        ConformanceCheck("shows an unsigned address as unverified until Apple signs one") { store in
            let first = try await store.signIn(.sample(email: nil, unsignedEmail: "posted@example.com"))
            try expectEqual(first.account.email, "posted@example.com")
            try expectEqual(first.account.isEmailVerified, false)
            try expectEqual(first.account.isPrivateEmail, nil)
            try expectEqual(try await store.account(.sample()), first.account)
            let other = try await store.signIn(.sample(email: nil, unsignedEmail: "other@example.com"))
            try expectEqual(other.account.email, "posted@example.com")
            let signed = try await store.signIn(.sample(unsignedEmail: "other@example.com"))
            try expectEqual(signed.account.email, "user@example.com")
            try expectEqual(signed.account.isEmailVerified, true)
            try expectEqual(try await store.account(.sample()), signed.account)
        },
        ConformanceCheck("never takes an unsigned address over a signed one") { store in
            try await store.signIn(.sample(email: .sample(isVerified: false)))
            let outcome = try await store.signIn(.sample(email: nil, unsignedEmail: "posted@example.com"))
            try expectEqual(outcome.account.email, "user@example.com")
            try expectEqual(outcome.account.isEmailVerified, false)
        },
        ConformanceCheck("keeps the address when a token has none") { store in
            try await store.signIn(.sample(authorizedAt: 1000))
            let outcome = try await store.signIn(.sample(authorizedAt: 2000, email: nil))
            try expectEqual(outcome.account.email, "user@example.com")
        },
        ConformanceCheck("keeps relay addresses with their flag") { store in
            let relay = EmailAddress.sample("abc@privaterelay.appleid.com", isPrivate: true)
            let outcome = try await store.signIn(.sample(email: relay))
            try expectEqual(outcome.account.email, "abc@privaterelay.appleid.com")
            try expectEqual(outcome.account.isPrivateEmail, true)
            try expectEqual(try await store.account(.sample()), outcome.account)
        },
        ConformanceCheck("keeps an address of which nothing is known apart from one that is no relay") {
            store in
            for (second, isPrivate) in [nil, false, true, false, nil, true, nil].enumerated() {
                let outcome = try await store.signIn(
                    .sample(
                        authorizedAt: Moment(seconds: Int64(second)), email: .sample(isPrivate: isPrivate)))
                try expectEqual(outcome.account.isPrivateEmail, isPrivate)
                try expectEqual(try await store.account(.sample())?.isPrivateEmail, isPrivate)
                try expectEqual(try await store.account(outcome.account.id), outcome.account)
            }
        },
        ConformanceCheck("follows the address of the latest moment") { store in
            try await store.signIn(.sample(authorizedAt: 5000, email: .sample("new@example.com")))
            try await store.signIn(.sample(authorizedAt: 3000, email: .sample("old@example.com")))
            try expectEqual(try await store.account(.sample())?.email, "new@example.com")
            try await store.signIn(.sample(authorizedAt: 7000, email: .sample("newest@example.com")))
            try expectEqual(try await store.account(.sample())?.email, "newest@example.com")
        },
        ConformanceCheck("remembers when an address was last confirmed") { store in
            try await store.signIn(.sample(authorizedAt: 1000, email: .sample("kept@example.com")))
            try await store.signIn(.sample(authorizedAt: 9000, email: .sample("kept@example.com")))
            // Late: it is of a moment between the two.
            try await store.signIn(
                .sample(clientID: "com.example.other", authorizedAt: 5000, email: .sample("late@example.com"))
            )
            try expectEqual(try await store.account(.sample())?.email, "kept@example.com")
            try await store.notify(
                .sample(.emailForwarding(.disabled, .sample("late@example.com", isPrivate: true)), at: 8000))
            try expectEqual(try await store.account(.sample())?.email, "kept@example.com")
            try expectEqual(try await store.account(.sample())?.emailForwarding, .disabled)
        },
        ConformanceCheck("keeps the highest real-user status") { store in
            for status in [1, 2, 0, nil] as [Int64?] {
                try await store.signIn(.sample(realUserStatus: status))
            }
            try expectEqual(try await store.account(.sample())?.realUserStatus, 2)
        },
    ]
}
