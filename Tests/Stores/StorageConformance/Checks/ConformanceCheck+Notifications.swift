import AppleAccounts

extension ConformanceCheck {
    static let notifications = [
        ConformanceCheck("takes a notification once by its identifier") { store in
            try expectEqual(try await store.notify(.sample(at: 6000, identifier: "jti-1")), .applied)
            let events = try await store.allEvents()
            // Another event under the same identifier is not to be believed either.
            try expectEqual(try await store.notify(.sample(at: 6000, identifier: "jti-1")), .duplicate)
            try expectEqual(try await store.notify(.sample(at: 9000, identifier: "jti-1")), .duplicate)
            try expectEqual(try await store.credential().since, 6000)
            try expectEqual(try await store.allEvents(), events)
        },
        ConformanceCheck("takes an event once by client ID, subject, type and time") { store in
            try expectEqual(try await store.notify(.sample(at: 6000, identifier: "jti-1")), .applied)
            try expectEqual(try await store.notify(.sample(at: 6000, identifier: "jti-2")), .duplicate)
            let others: [NotificationCommand] = [
                .sample(at: 6001, identifier: "jti-3"),
                .sample(.appleAccountDeleted, at: 6000, identifier: "jti-4"),
                .sample(key: .sample("another"), at: 6000, identifier: "jti-5"),
                .sample(clientID: "com.example.other", at: 6000, identifier: "jti-6"),
            ]
            for other in others {
                try expect(try await store.notify(other) != .duplicate, "another event is no repetition")
            }
        },
        ConformanceCheck("takes a repeated notification once within one batch") { store in
            let command = AccountCommand.notification(.sample(at: 6000, identifier: "jti-1"))
            let again = AccountCommand.notification(.sample(at: 6000, identifier: "jti-2"))
            let result = try await store.commit([command, command, again])
            try expectEqual(
                result.results,
                [
                    .done(.notification(.applied)), .done(.notification(.duplicate)),
                    .done(.notification(.duplicate)),
                ])
            try expectEqual(try await store.eventKinds(), [.credentialRevoked])
        },
        ConformanceCheck(
            "says of a late withdrawal, and of one that a check had found, that no state changed"
        ) {
            store in
            let account = try await store.hold(1, authorizedAt: 5000)
            try expectEqual(try await store.notify(.sample(at: 4000, identifier: "jti-1")), .unchanged)
            try expectEqual(try await store.reject(.sample(account: account, at: 7000)), .revoked)
            try expectEqual(try await store.notify(.sample(at: 6500, identifier: "jti-2")), .unchanged)
            let other = SubjectKey.sample("another")
            try await store.signIn(.sample(key: other, authorizedAt: 5000))
            try expectEqual(
                try await store.notify(.sample(key: other, at: 6000, identifier: "jti-3")), .applied)
            try expectEqual(try await store.eventKinds().filter { $0 == .credentialRevoked }.count, 2)
        },
        ConformanceCheck("applies every event of a notification") { store in
            let command = NotificationCommand(
                identifier: "jti-1", team: "A1B2C3D4E5", clientID: "com.example.app",
                events: [
                    event(.consentRevoked, of: "one", at: 6000), event(.consentRevoked, of: "two", at: 6001),
                    event(.unknown, of: nil, at: 6002),
                ],
                payload: "a.b.c", receivedAt: 7000)
            try expectEqual(try await store.notify(command), .applied)
            try expectEqual(try await store.credential(.sample("one")).since, 6000)
            try expectEqual(try await store.credential(.sample("two")).since, 6001)
        },
        ConformanceCheck("applies only the new events of a notification") { store in
            try await store.notify(.sample(key: .sample("one"), at: 6000, identifier: "jti-1"))
            let command = NotificationCommand(
                identifier: "jti-2", team: "A1B2C3D4E5", clientID: "com.example.app",
                events: [
                    event(.consentRevoked, of: "one", at: 6000), event(.consentRevoked, of: "two", at: 6000),
                ],
                payload: "a.b.c", receivedAt: 7000)
            try expectEqual(try await store.notify(command), .applied)
            try expectEqual(
                try await store.allEvents().map(\.subject), ["one", "two"])
        },
        ConformanceCheck("keeps types that it does not know") { store in
            try await store.signIn(.sample())
            let before = try await store.account(.sample())
            let command = NotificationCommand.sample(.unknown, type: "surprise", identifier: "jti-1")
            try expectEqual(try await store.notify(command), .unknownType)
            try expectEqual(try await store.notify(command), .duplicate)
            let nameless = NotificationCommand(
                identifier: "jti-2", team: "A1B2C3D4E5", clientID: "com.example.app",
                events: [event(.unknown, of: nil, at: 0)], payload: "a.b.c", receivedAt: 7000)
            try expectEqual(try await store.notify(nameless), .unknownType)
            let empty = NotificationCommand(
                identifier: "jti-3", team: "A1B2C3D4E5", clientID: "com.example.app", events: [],
                payload: "a.b.c", receivedAt: 7000)
            try expectEqual(try await store.notify(empty), .unknownType)
            try expectEqual(try await store.account(.sample()), before)
        },
        ConformanceCheck("follows the forwarding switch of the latest moment") { store in
            try await store.signIn(.sample())
            try await store.notify(.sample(.emailForwarding(.disabled, nil), at: 6000))
            try expectEqual(try await store.account(.sample())?.emailForwarding, .disabled)
            try await store.notify(.sample(.emailForwarding(.enabled, nil), at: 5000))
            try expectEqual(try await store.account(.sample())?.emailForwarding, .disabled)
            try await store.notify(.sample(.emailForwarding(.enabled, nil), at: 7000))
            try expectEqual(try await store.account(.sample())?.emailForwarding, .enabled)
            try await store.notify(.sample(.emailForwarding(.disabled, nil), at: 7000))
            try expectEqual(try await store.account(.sample())?.emailForwarding, .disabled)
        },
        ConformanceCheck("remembers forwarding and address for a user not known yet") { store in
            let relay = EmailAddress.sample("abc@privaterelay.appleid.com", isPrivate: true)
            try await store.notify(.sample(.emailForwarding(.disabled, relay), at: 6000))
            try expectEqual(try await store.account(.sample()), nil)
            try expectEqual(try await store.allEvents(), [])
            let outcome = try await store.signIn(.sample(authorizedAt: 5000))
            try expectEqual(outcome.account.email, "abc@privaterelay.appleid.com")
            try expectEqual(outcome.account.isPrivateEmail, true)
            try expectEqual(outcome.account.emailForwarding, .disabled)
            try expectEqual(try await store.account(.sample()), outcome.account)
        },
        ConformanceCheck("replaces an unsigned address by one that a notification carries") { store in
            try await store.signIn(.sample(email: nil, unsignedEmail: "posted@example.com"))
            let relay = EmailAddress.sample("abc@privaterelay.appleid.com", isPrivate: true)
            try await store.notify(.sample(.emailForwarding(.enabled, relay)))
            let account = try unwrap(try await store.account(.sample()))
            try expectEqual(account.email, "abc@privaterelay.appleid.com")
            try expectEqual(account.isEmailVerified, true)
        },
    ]

    private static func event(
        _ change: NotifiedEvent.Change, of subject: AppleSubject?, at moment: Moment
    ) -> NotifiedEvent {
        NotifiedEvent(
            change: change, type: change == .unknown ? "surprise" : "consent-revoked", subject: subject,
            moment: moment)
    }
}
