import AppleAccounts
import AuthorizationServer
import Cryptography

extension ConformanceCheck {
    /// Reads for operators.
    static let inspection = [
        ConformanceCheck("shows a code by its digest, before and after its use") { store in
            let account = try await store.signIn(.sample()).account
            let grant = try await store.authorize(.sample(account: account.id))
            let command = RedeemCommand.sample()
            let code = try unwrap(try await store.code(withDigest: command.codeDigest))
            try expectEqual(code.grantID, grant.id)
            try expectEqual(code.accountID, account.id)
            try expectEqual(code.redemption, nil)
            try await store.redeem(command)
            let redeemed = try unwrap(try await store.code(withDigest: command.codeDigest))
            try expectEqual(redeemed.redemption?.familyID, .sample(1))
            try expectEqual(try await store.code(withDigest: .hash("another")), nil)
        },
        ConformanceCheck("shows a device by the digest of its device code") { store in
            let device = DeviceAuthorization.sample(1)
            try await store.begin(device)
            try expectEqual(try await store.device(withDigest: device.digest), device)
            try expectEqual(try await store.device(withDigest: device.userCodeDigest), nil)
        },
        ConformanceCheck("counts grants and token families by client, and says when it looked at a part") {
            store in
            try expectEqual(try await store.clientUsage(lookingAt: 10).grants, [:])
            let first = try await store.signIn(.sample()).account
            let second = try await store.signIn(.sample(key: .sample("another"))).account
            try await store.authorize(.sample(account: first.id))
            try await store.redeem(.sample())
            try await store.authorize(.sample(2, account: second.id))
            let usage = try await store.clientUsage(lookingAt: 10)
            try expectEqual(usage.grants, ["phone": 2])
            try expectEqual(usage.families, ["phone": 1])
            try expect(!usage.isSampleOfGrants && !usage.isSampleOfFamilies, "all rows were counted")
            let part = try await store.clientUsage(lookingAt: 1)
            try expectEqual(part.grants, ["phone": 1])
            try expect(part.isSampleOfGrants, "a part was counted")
        },
        ConformanceCheck("shows notifications newest first, in pages, and only of the apps of the caller") {
            store in
            for number in 1...5 {
                let app: ClientID = number == 3 ? "com.example.other" : "com.example.app"
                try await store.notify(
                    .sample(
                        clientID: app, at: Moment(seconds: 6000 + Int64(number)),
                        identifier: InboxIdentifier(stringLiteral: "jti-\(number)")))
            }
            let first = try await store.notifications(before: nil, limit: 2, visibleTo: .all)
            try expectEqual(first.notifications.map(\.identifier.rawValue), ["jti-5", "jti-4"])
            let second = try await store.notifications(before: first.next, limit: 2, visibleTo: .all)
            try expectEqual(second.notifications.map(\.identifier.rawValue), ["jti-3", "jti-2"])
            let last = try await store.notifications(before: second.next, limit: 2, visibleTo: .all)
            try expectEqual(last.notifications.map(\.identifier.rawValue), ["jti-1"])
            try expectEqual(last.next, nil)
            try expectEqual(last.notifications.first?.receipt, .applied)
            try expectEqual(last.notifications.first?.clientID, "com.example.app")
            let other = try await store.notifications(
                before: nil, limit: 2, visibleTo: .only(["com.example.other"]))
            try expectEqual(other.notifications.map(\.identifier.rawValue), ["jti-3"])
            let none = try await store.notifications(before: nil, limit: 2, visibleTo: .only([]))
            try expectEqual(none.notifications, [])
        },
        ConformanceCheck("knows when the last notification came, also when its user is erased") { store in
            try expectEqual(try await store.lastNotification(), nil)
            let account = try await store.signIn(.sample(authorizedAt: 1000)).account
            for number in 1...3 as ClosedRange<Int64> {
                let command = NotificationCommand.sample(
                    .unknown, at: Moment(milliseconds: 2000 + number),
                    identifier: InboxIdentifier(stringLiteral: "jti-\(number)"))
                try await store.notify(command)
                try expectEqual(try await store.lastNotification(), command.receivedAt)
            }
            let last = try await store.lastNotification()
            try await store.erase(.sample(account: account))
            try expectEqual(try await store.lastNotification(), last)
        },
        ConformanceCheck("shows Google's events newest first") { store in
            for number in 1...3 {
                _ = try await store.carryOut(
                    GoogleEventCommand(
                        jti: "jti-\(number)", payload: Array("token \(number)".utf8), events: [],
                        receivedAt: Moment(seconds: Int64(1000 + number))))
            }
            let all = try await store.googleEvents(before: nil, limit: 2)
            try expectEqual(all.map(\.jti), ["jti-3", "jti-2"])
            try expectEqual(all.first?.payload, Array("token 3".utf8))
            let older = try await store.googleEvents(before: all.last?.position, limit: 2)
            try expectEqual(older.map(\.jti), ["jti-1"])
        },
        ConformanceCheck("skips and repeats none of Google's events that came in one millisecond") { store in
            let names = ["b", "A", "a", "\u{e9}", "Z", "1", "~"]
            for name in names {
                _ = try await store.carryOut(
                    GoogleEventCommand(
                        jti: name, payload: Array("token".utf8), events: [], receivedAt: Moment(seconds: 1000)
                    ))
            }
            var found: [String] = []
            var position: GoogleEventPosition?
            for _ in 0..<names.count {
                let page = try await store.googleEvents(before: position, limit: 2)
                found += page.map(\.jti)
                position = page.last?.position ?? position
            }
            // By their bytes, the last first.
            try expectEqual(found, ["\u{e9}", "~", "b", "a", "Z", "A", "1"])
        },
    ]
}
