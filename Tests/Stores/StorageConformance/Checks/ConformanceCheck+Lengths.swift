import AppleAccounts
import TestSupport

/// Every stored text and byte string at its bound, with the characters that take the most bytes, and beyond
/// its bound.
extension ConformanceCheck {
    static let lengths = [
        ConformanceCheck("keeps every name of 255 characters, whatever their bytes") { store in
            let team = try unwrap(TeamID(text("T", 255)))
            let (app, issuedTo) = (try unwrap(ClientID(text("A", 255))), try unwrap(ClientID(text("C", 255))))
            let key = SubjectKey(team: team, subject: try unwrap(AppleSubject(text("s", 255))))
            let account = try await store.hold(
                1, key: key, clientID: app, issuedTo: issuedTo, authorizedAt: 1000)
            try expectEqual(account.subject, key.subject)
            try expectEqual(account.credentials.map(\.clientID), [app])
            let identifier = try unwrap(InboxIdentifier(text("i", 255)))
            let command = NotificationCommand.sample(
                .unknown, type: text("t", 255), key: key, clientID: app, at: 2000, identifier: identifier)
            try expectEqual(try await store.notify(command), .unknownType)
            try expectEqual(try await store.notify(command), .duplicate)

            let transferSubject = try unwrap(AppleSubject(text("x", 255)))
            try await store.importTransfers([
                TransferRecord(
                    recipientTeam: team, transferSubject: transferSubject, accountID: AccountID(.sample(9)),
                    from: nil,
                    createdAt: 1, expiresAt: 9000)
            ])
            let other = SubjectKey(team: team, subject: "another")
            let found = try await store.signIn(
                .sample(
                    key: other, clientID: app, authorizedAt: 3000, transferSubject: transferSubject.rawValue,
                    receivedAt: 3000))
            try expectEqual(found.account.id, AccountID(.sample(9)))

            let record = try await store.erase(.sample(account: account))
            try expectEqual(record.tokens.map(\.clientID), [issuedTo])
            try expectEqual(try await store.erasure(record.id), record)
        },
        ConformanceCheck("has no names past 255 characters") { _ in
            let long = text("x", 256)
            try expect(
                TeamID(long) == nil && ClientID(long) == nil && AppleSubject(long) == nil
                    && InboxIdentifier(long) == nil, "256 characters are no name")
        },
        ConformanceCheck(
            "keeps addresses of 320 characters and no longer ones, and the first 256 characters of names"
        ) { store in
            let (address, name) = (text("a@", 320), text("n", 256))
            try await store.signIn(.sample(email: .sample(address), firstName: name, lastName: name))
            let signed = try unwrap(try await store.account(.sample()))
            try expectEqual(
                [signed.email, signed.profile.firstName, signed.profile.lastName], [address, name, name])
            let key = SubjectKey.sample("unsigned")
            try await store.signIn(.sample(key: key, email: nil, unsignedEmail: address))
            try expectEqual(try await store.account(key)?.email, address)

            let (longAddress, longName) = (text("a@", 321), name + "x")
            try expect(
                EmailAddress(address: longAddress, isVerified: true, isPrivate: true) == nil,
                "it is no address")
            let other = SubjectKey.sample("too-long")
            try await store.signIn(
                .sample(
                    key: other, email: nil, firstName: longName, lastName: longName,
                    unsignedEmail: longAddress))
            let without = try unwrap(try await store.account(other))
            try expectEqual(
                [without.email, without.profile.firstName, without.profile.lastName], [nil, name, name])
        },
        ConformanceCheck("keeps notifications of any type, each once") { store in
            try await store.signIn(.sample(authorizedAt: 1000))
            let types = [
                "", "x", text("t", 255), text("t", 256), text("t", 3000), text("t", 3001), text("t", 60_000),
                "a\u{0}b", "a\u{1}b", "\u{85}",
            ]
            for (number, type) in types.enumerated() {
                for delivery in 1...2 {
                    let command = NotificationCommand.sample(
                        .unknown, type: type, at: 2000, identifier: "jti-\(number)-\(delivery)")
                    try expectEqual(
                        try await store.notify(command), delivery == 1 ? .unknownType : .duplicate)
                }
            }
            // One that means something means it under any name.
            let long = NotificationCommand.sample(
                .consentRevoked, type: text("consent-revoked", 3000), at: 3000, identifier: "jti-long")
            try expectEqual(try await store.notify(long), .applied)
            try expectEqual(try await store.credential().state, .revoked)
        },
        ConformanceCheck("keeps payloads of 65,536 characters, and refuses none and longer ones alone") {
            store in
            func command(_ number: Int, _ payload: String) -> AccountCommand {
                .notification(
                    .sample(key: .sample("p\(number)"), identifier: "jti-\(number)", payload: payload))
            }
            let long = text("p", NotificationCommand.longestPayload)
            let results = try await store.commit([
                command(1, long), command(2, long + "p"), command(3, ""), command(4, "a.b.c"),
            ]).results
            try expectEqual(results[0], .done(.notification(.applied)))
            for result in results[1...2] {
                guard case .failed(let error) = result else {
                    throw ConformanceFailure(description: "found \(result)")
                }
                try expectEqual(error.code, .valueRefused)
            }
            try expectEqual(results[3], .done(.notification(.applied)))
            try expectEqual(try await store.credential(.sample("p2")).state, .notFound)
        },
        ConformanceCheck("keeps secrets of 16,384 bytes, and redirect URIs of any length") { store in
            let sealed = SampleSealing.longest
            let secret = String(repeating: "s", count: AppleTokenSecret.longest)
            try expect(
                AppleTokenSecret("") == nil && AppleTokenSecret(secret + "s") == nil, "others are not Apple's"
            )
            try expect(
                SealedSecret([]) == nil && SealedSecret(sealed.bytes + [7]) == nil, "others are no secrets")
            let uri = "https://example.com/" + text("u", 60_000)
            let code = AuthorizationCodeOffer(
                id: .sample(1), clientID: "com.example.app", redirectURI: uri, expiresAt: 900_000,
                secret: .sample(secret))
            let account = try await store.signIn(.sample(authorizationCode: code)).account
            let claimed = try await store.claimCodes(limit: 1, at: .last, leaseUntil: .last)
            try expectEqual(claimed.map(\.record.sealed), [sealed])
            try expectEqual(claimed.map(\.record.redirectURI), [uri])
            let token = ExchangeCommand(
                codeID: .sample(9), key: .sample(), accountID: account.id, clientID: "com.example.app",
                primaryClientID: "com.example.app",
                outcome: .token(sealed, tokenID: .sample(2), authorizedAt: 1_000_000, nextCheckAt: 1_000_000),
                receivedAt: 1_000_001)
            try expectEqual(try await store.exchange(token), .kept)
            try expectEqual(
                try await store.sealedSecrets(after: nil, limit: 9).map(\.sealed), [sealed, sealed])
            let record = try await store.erase(.sample(account: account))
            try expectEqual(record.tokens.map(\.sealed), [sealed, sealed])
            try expectEqual(try await store.erasure(record.id), record)
        },
        ConformanceCheck("keeps causes of 64 characters, and refuses others") { store in
            let account = try await store.hold(1, authorizedAt: 1000)
            let record = try await store.erase(.sample(account: account))
            var token = record.tokens[0]
            for cause in ["", text("c", 65)] {
                token.cause = cause
                do {
                    try await store.save(token, of: record.id, at: 6_000_000)
                    throw ConformanceFailure(description: "a cause of \(cause.count) characters is kept")
                } catch let error as StorageError {
                    try expectEqual(error.code, .valueRefused)
                }
            }
            token.cause = text("c", 64)
            try await store.save(token, of: record.id, at: 6_000_000)
            try expectEqual(try await store.erasure(record.id)?.tokens.map(\.cause), [text("c", 64)])
        },
    ]

    /// Makes a text of this many characters: a letter, and otherwise characters of four bytes.
    private static func text(_ first: String, _ count: Int) -> String {
        var text = first
        // Different ones, so that compression does not hide how long it is.
        var generator = SeededGenerator(seed: UInt64(count))
        for _ in first.count..<count {
            let scalar = Unicode.Scalar(UInt32.random(in: 0x20000...0x2A6DF, using: &generator)) ?? "x"
            text.unicodeScalars.append(scalar)
        }
        return text
    }
}
