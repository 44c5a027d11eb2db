import AppleAccounts

extension ConformanceCheck {
    static let credentials = [
        ConformanceCheck("authorizes the app of the sign-in and no other") { store in
            try await store.signIn(.sample(authorizedAt: 5000))
            let record = try await store.credential()
            let expected = CredentialRecord(authorization: Authorization(moment: 5000, source: .signIn))
            try expectEqual(record, Credential(clientID: "com.example.app", record: expected))
            try expectEqual(record.state, .authorized)
            try expectEqual(try await store.credential(.sample(), "com.example.other").state, .notFound)
            try expectEqual(try await store.credential(.sample(), "never.seen").state, .notFound)
        },
        ConformanceCheck("revokes the app of the notification and no other") { store in
            try await store.signIn(.sample(authorizedAt: 5000))
            try await store.signIn(.sample(clientID: "com.example.other", authorizedAt: 5000))
            try await store.notify(.sample(at: 6000))
            let record = try await store.credential()
            try expectEqual(record.state, .revoked)
            try expectEqual(record.reason, .consentRevoked)
            try expectEqual(record.source, .notification)
            try expectEqual(record.since, 6000)
            try expectEqual(try await store.credential(.sample(), "com.example.other").state, .authorized)
            let account = try unwrap(try await store.account(.sample()))
            try expectEqual(account.credentials.map(\.state), [.revoked, .authorized])
        },
        ConformanceCheck("refuses a token that is not later than the revocation") { store in
            try await store.signIn(.sample(authorizedAt: 5000, receivedAt: 5001))
            try await store.notify(.sample(at: 6000))
            let before = try await store.account(.sample())
            for moment in [4000, 5000, 6000] as [Moment] {
                try await expectRefusal(.credentialRevoked) {
                    try await store.signIn(
                        .sample(authorizedAt: moment, firstName: "Mallory", receivedAt: 7000))
                }
            }
            try expectEqual(try await store.account(.sample()), before)
            try expectEqual(try await store.credential().state, .revoked)
            try await store.signIn(.sample(authorizedAt: 6001))
            try expectEqual(try await store.credential().state, .authorized)
        },
        ConformanceCheck("remembers a revocation for a user not known yet") { store in
            try await store.notify(.sample(at: 6000))
            try expectEqual(try await store.credential().state, .revoked)
            try expectEqual(try await store.account(.sample()), nil)
            try await expectRefusal(.credentialRevoked) {
                try await store.signIn(.sample(authorizedAt: 6000))
            }
            try expectEqual(try await store.account(.sample()), nil)
            let outcome = try await store.signIn(.sample(authorizedAt: 6001))
            try expect(outcome.isNewAccount, "the account is new")
            try expectEqual(outcome.credential.state, .authorized)
        },
        ConformanceCheck("does not let a late old revocation undo a newer sign-in") { store in
            try await store.signIn(.sample(authorizedAt: 9000))
            try await store.notify(.sample(at: 6000))
            try expectEqual(try await store.credential().state, .authorized)
            try await store.notify(.sample(at: 9000))
            try expectEqual(try await store.credential().state, .revoked)
        },
        ConformanceCheck("answers for many users in their order") { store in
            try await store.signIn(.sample(key: .sample("authorized")))
            try await store.notify(.sample(key: .sample("revoked")))
            try await store.signIn(.sample(key: .sample(team: "OTHERTEAM1", "elsewhere")))
            let subjects: [AppleSubject] = ["revoked", "unknown", "authorized", "elsewhere", "revoked"]
            let records = try await store.credentials(
                team: "A1B2C3D4E5", clientID: "com.example.app", subjects: subjects)
            try expectEqual(
                records.map(\.state), [.revoked, .notFound, .authorized, .notFound, .revoked])
            let none = try await store.credentials(
                team: "A1B2C3D4E5", clientID: "com.example.app", subjects: [])
            try expectEqual(none, [])
        },
        ConformanceCheck("answers for a thousand users at once") { store in
            let subjects = (0..<1000).map { AppleSubject(stringLiteral: "user-\($0)") }
            _ = try await store.commit(subjects.map { .signIn(.sample(key: .sample($0))) })
            let records = try await store.credentials(
                team: "A1B2C3D4E5", clientID: "com.example.app", subjects: subjects.reversed())
            try expectEqual(records.count, 1000)
            try expect(records.allSatisfy { $0.state == .authorized }, "all are authorized")
        },
    ]

    static let deletions = [
        ConformanceCheck("ends the credentials of all apps when the Apple Account is deleted") { store in
            try await store.signIn(.sample(authorizedAt: 5000))
            try await store.signIn(.sample(clientID: "com.example.other", authorizedAt: 5000))
            try await store.notify(.sample(.appleAccountDeleted, at: 6000))
            for clientID in ["com.example.app", "com.example.other"] as [ClientID] {
                let record = try await store.credential(.sample(), clientID)
                try expectEqual(record.state, .revoked)
                try expectEqual(record.reason, .appleAccountDeleted)
                try expectEqual(record.since, 6000)
            }
            let account = try unwrap(try await store.account(.sample()))
            try expectEqual(account.credentials.map(\.state), [.revoked, .revoked])
            try expectEqual(account.credentials.map(\.reason), [.appleAccountDeleted, .appleAccountDeleted])
        },
        ConformanceCheck("remembers a deletion for apps that are seen later") { store in
            try await store.signIn(.sample(authorizedAt: 5000))
            try await store.notify(.sample(.appleAccountDeleted, at: 6000))
            try expectEqual(try await store.credential(.sample(), "com.example.new").state, .revoked)
            try await expectRefusal(.credentialRevoked) {
                try await store.signIn(.sample(clientID: "com.example.new", authorizedAt: 6000))
            }
            try await store.signIn(.sample(clientID: "com.example.new", authorizedAt: 6001))
            try expectEqual(try await store.credential(.sample(), "com.example.new").state, .authorized)
            try expectEqual(try await store.credential().state, .revoked)
        },
        ConformanceCheck("remembers a deletion for a user not known yet") { store in
            try await store.notify(.sample(.appleAccountDeleted, at: 6000))
            try expectEqual(try await store.account(.sample()), nil)
            try expectEqual(try await store.credential().state, .revoked)
            try await expectRefusal(.credentialRevoked) {
                try await store.signIn(.sample(authorizedAt: 5999))
            }
        },
        ConformanceCheck("keeps a deletion to its team") { store in
            let other = SubjectKey.sample(team: "OTHERTEAM1")
            try await store.signIn(.sample(key: other, clientID: "org.example.app", authorizedAt: 5000))
            try await store.notify(.sample(.appleAccountDeleted, at: 6000))
            try expectEqual(try await store.credential(other, "org.example.app").state, .authorized)
        },
        ConformanceCheck("takes the latest of two deletions") { store in
            try await store.notify(.sample(.appleAccountDeleted, at: 6000))
            try await store.notify(.sample(.appleAccountDeleted, at: 4000))
            try expectEqual(try await store.credential().since, 6000)
            try await store.notify(.sample(.appleAccountDeleted, at: 8000))
            try expectEqual(try await store.credential().since, 8000)
        },
    ]
}
