import AppleAccounts
import AuthorizationServer
import Cryptography

extension ConformanceCheck {
    /// Devices without a browser (RFC 8628).
    static let devices = [
        ConformanceCheck("gives tokens to a device once a user has agreed, and once only") { store in
            let account = try await store.signIn(.sample()).account
            let device = try await store.begin(.sample())
            try expectEqual(try await store.device(withUserCode: device.userCodeDigest), device)
            try expectEqual(try await store.device(withUserCode: device.digest), nil)
            try await expectGrantRefusal(.devicePending) { try await store.poll(.sample(at: 2_001_000)) }
            let grant = try await store.decide(.agree(account: account.id))
            try expectEqual(try await store.grants(of: account.id), [grant].compactMap(\.self))
            // The origin of the request is gone with the row.
            try expectEqual(try await store.device(withUserCode: device.userCodeDigest), nil)
            let tokens = try await store.poll(.sample())
            try expectEqual(tokens.grant.id, grant?.id)
            try expectEqual(tokens.account.id, account.id)
            try expectEqual(tokens.scope, "openid offline_access")
            try expectEqual(tokens.family.authenticatedAt, 1_000_000)
            try expect(tokens.hasNewRefreshToken, "there is a refresh token")
            try expect(try await store.isGood(1), "the tokens are good")
            try await expectGrantRefusal(.codeRetried) {
                try await store.poll(.sample(family: 2, at: 2_029_999))
            }
            try expect(try await store.isGood(1), "a retry ends nothing")
            try await expectGrantRefusal(.codeReused) {
                try await store.poll(.sample(family: 2, at: 2_030_000))
            }
            try expect(try await !store.isGood(1), "a second use ends the tokens, as with a code")
            try expectEqual(
                try await store.eventKinds().filter { $0 == .grantCreated || $0 == .grantRevoked },
                [.grantCreated, .grantRevoked])
        },
        ConformanceCheck("lengthens the interval of a device that polls too early, up to a minute") { store in
            let device = try await store.begin(.sample())
            func poll(_ moment: Int64, _ code: GrantRefusal.Code, _ interval: Int64) async throws {
                let moment = Moment(milliseconds: moment)
                try await expectGrantRefusal(code) { try await store.poll(.sample(at: moment)) }
                let found = try await store.device(withUserCode: device.userCodeDigest)
                try expectEqual(found?.interval, interval)
                try expectEqual(found?.polledAt, moment)
            }
            try await poll(2_000_100, .devicePending, 5)
            try await poll(2_004_599, .devicePolledEarly, 10)
            try await poll(2_014_099, .devicePending, 10)
            for number in 0..<12 as Range<Int64> {
                try await poll(2_015_000 + number * 1000, .devicePolledEarly, min(15 + 5 * number, 60))
            }
            try await poll(2_086_000, .devicePending, 60)
            // A poll of another client neither counts nor slows the device down.
            try await expectGrantRefusal(.codeOfAnotherClient) {
                try await store.poll(.sample(client: "tablet", at: 2_086_001))
            }
            try expectEqual(
                try await store.device(withUserCode: device.userCodeDigest)?.polledAt, 2_086_000)
        },
        ConformanceCheck("tells a device of the refusal, of the end of its time, and of a wrong code") {
            store in
            let account = try await store.signIn(.sample()).account
            let refused = try await store.begin(.sample(1))
            try await store.begin(.sample(2))
            try await store.begin(.sample(3))
            try expectEqual(try await store.decide(.refuse(1)), nil)
            try await expectGrantRefusal(.deviceDenied) { try await store.poll(.sample(1)) }
            let row = try await store.device(withUserCode: refused.userCodeDigest)
            try expectEqual(row?.deniedAt, 2_010_000)
            try expectEqual(row?.origin, .unknown)
            try await expectGrantRefusal(.deviceDenied) {
                try await store.decide(.agree(1, account: account.id))
            }
            try await expectGrantRefusal(.deviceCodeNotFound) { try await store.poll(.sample(9)) }
            try await expectGrantRefusal(.deviceCodeNotFound) {
                try await store.decide(.agree(9, account: account.id))
            }
            try await expectGrantRefusal(.deviceCodeNotFound) {
                try await store.decide(.agree(2, account: account.id, client: "tablet"))
            }
            try await expectGrantRefusal(.deviceCodeExpired) {
                try await store.poll(.sample(2, at: 2_600_000))
            }
            try await expectGrantRefusal(.deviceCodeExpired) {
                try await store.decide(.agree(2, account: account.id, at: 2_600_000))
            }
            // A consent in time, and a device that asks too late.
            try await store.decide(.agree(3, account: account.id, at: 2_599_999))
            try await expectGrantRefusal(.deviceCodeExpired) {
                try await store.poll(.sample(3, at: 2_600_000))
            }
            try await expectGrantRefusal(.codeOfAnotherClient) {
                try await store.poll(.sample(3, client: "tablet", at: 2_599_999))
            }
            try await store.poll(.sample(3, at: 2_599_999))
        },
        ConformanceCheck("gives a device nothing once the credential has ended or the account is disabled") {
            store in
            let account = try await store.signIn(.sample()).account
            for number in 1...3 as ClosedRange<UInt64> { try await store.begin(.sample(number)) }
            try await store.decide(.agree(1, account: account.id))
            try await store.change(DisableCommand.sample(account, at: 2_011_000))
            try await expectGrantRefusal(.accountDisabled) { try await store.poll(.sample(1)) }
            try await expectGrantRefusal(.accountDisabled) {
                try await store.decide(.agree(2, account: account.id, at: 2_012_000))
            }
            try await store.change(EnableCommand.sample(account, at: 2_013_000))
            try await store.notify(.sample(.consentRevoked, at: 2_014_000))
            try await expectGrantRefusal(.deviceCodeNotFound) { try await store.poll(.sample(1)) }
            try await expectGrantRefusal(.credentialRevoked) {
                try await store.decide(.agree(2, account: account.id, at: 2_015_000))
            }
            // The device still waits, for another user.
            try await expectGrantRefusal(.devicePending) { try await store.poll(.sample(2)) }
            try expectEqual(try await store.grants(of: account.id), [])
            try await store.signIn(.sample(authorizedAt: 2_016_000))
            try await expectGrantRefusal(.credentialRevoked) {
                try await store.decide(.agree(3, account: account.id, at: 2_017_000))
            }
            try await expectGrantRefusal(.authenticationTooOld) {
                try await store.decide(
                    .agree(
                        3, account: account.id, authenticatedAt: 2_016_000, authenticatedAfter: 2_016_001,
                        at: 2_017_000))
            }
            try await store.decide(
                .agree(3, account: account.id, authenticatedAt: 2_016_000, at: 2_017_000))
            try await store.poll(.sample(3))
            try expect(try await store.isGood(3), "a sign-in since gives tokens")
        },
        ConformanceCheck("erases the consent of a user to a device that has not asked yet") { store in
            let account = try await store.signIn(.sample()).account
            let device = try await store.begin(.sample())
            try await store.decide(.agree(account: account.id))
            try await store.erase(.sample(account: account, at: 2_011_000))
            try await expectGrantRefusal(.deviceCodeNotFound) { try await store.poll(.sample()) }
            try expectEqual(try await store.device(withUserCode: device.userCodeDigest), nil)
            try await store.begin(.sample(2))
            try await expectGrantRefusal(.accountErased) {
                try await store.decide(.agree(2, account: account.id, at: 2_012_000))
            }
        },
        ConformanceCheck("obeys the ceilings of codes") { store in
            let account = try await store.signIn(.sample()).account
            let limits = FamilyLimits(perClient: 2, perAccount: 3)
            for number in 1...3 as ClosedRange<UInt64> {
                try await store.begin(.sample(number))
                try await store.decide(.agree(number, account: account.id))
                let moment = Moment(milliseconds: 2_020_000 + Int64(number))
                try await store.poll(.sample(number, limits: limits, at: moment))
            }
            try expect(try await !store.isGood(1), "the oldest has ended")
            try expect(try await store.isGood(2), "the others are good")
            try expect(try await store.isGood(3), "the others are good")
        },
    ]

    static let deviceTable = [
        ConformanceCheck("bounds the devices that wait, for each client and in all") { store in
            let limits = DeviceLimits(perClient: 3, total: 5)
            for number in 1...3 as ClosedRange<UInt64> { try await store.begin(.sample(number), limits) }
            try await expectGrantRefusal(.tooManyDevices) { try await store.begin(.sample(4), limits) }
            for number in 4...5 as ClosedRange<UInt64> {
                try await store.begin(.sample(number, client: "tablet"), limits)
            }
            for client in ["tablet", "google"] as [OAuthClientID] {
                try await expectGrantRefusal(.tooManyDevices) {
                    try await store.begin(.sample(6, client: client), limits)
                }
            }
            // A consent, and the end of the time, make room.
            let account = try await store.signIn(.sample()).account
            try await store.decide(.agree(1, account: account.id))
            try await store.begin(.sample(6), limits)
            try await store.decide(.refuse(6))
            try await expectGrantRefusal(.tooManyDevices) { try await store.begin(.sample(7), limits) }
            try expectEqual(try await store.purgeGrants(at: 2_720_000), 0)
            try expectEqual(try await store.purgeGrants(at: 2_720_001), 5)
            try await store.begin(.sample(7), limits)
        },
        ConformanceCheck("counts the devices of one batch too, and gives no user code twice") { store in
            try await store.begin(.sample(1))
            try await expectGrantRefusal(.userCodeTaken) {
                try await store.begin(.sample(2, client: "tablet", userCode: 1))
            }
            let limits = DeviceLimits(perClient: 3, total: 10)
            let batch = (3...6 as ClosedRange<UInt64>).map {
                GrantCommand.beginDevice(BeginDeviceCommand(device: .sample($0), limits: limits))
            }
            let same = GrantCommand.beginDevice(
                BeginDeviceCommand(device: .sample(7, client: "tablet", userCode: 3)))
            let codes = try await store.commit(grants: batch + [same]).results.map {
                result -> GrantRefusal.Code? in
                if case .failure(let error) = result { (error as? GrantRefusal)?.code } else { nil }
            }
            try expectEqual(codes, [nil, nil, .tooManyDevices, .tooManyDevices, .userCodeTaken])
        },
        ConformanceCheck("refuses the device after the thousandth of a client") { store in
            let most = UInt64(DeviceLimits.standard.perClient)
            for start in stride(from: 1, through: most, by: 250) {
                let batch = (start..<start + 250).map {
                    GrantCommand.beginDevice(BeginDeviceCommand(device: .sample($0)))
                }
                let results = try await store.commit(grants: batch).results
                try expect(results.allSatisfy { (try? $0.get()) != nil }, "all are stored")
            }
            try await expectGrantRefusal(.tooManyDevices) { try await store.begin(.sample(most + 1)) }
            try await store.begin(.sample(most + 1, client: "tablet"))
            var removed = 0
            while case let count = try await store.purgeGrants(at: 90_000_000), count > 0 {
                try expect(count <= 1001, "a purge goes in steps")
                removed += count
            }
            try expectEqual(removed, Int(most) + 1)
        },
        ConformanceCheck("carries out a request, a consent and a poll of one batch in their order") { store in
            let account = try await store.signIn(.sample()).account
            try await store.begin(.sample())
            let results = try await store.commit(grants: [
                .pollDevice(.sample(at: 2_005_000)), .decideDevice(.agree(account: account.id)),
                .pollDevice(.sample()), .pollDevice(.sample(family: 2)),
            ]).results
            let codes = results.map { result -> GrantRefusal.Code? in
                if case .failure(let error) = result { (error as? GrantRefusal)?.code } else { nil }
            }
            try expectEqual(codes, [.devicePending, nil, nil, .codeRetried])
            try expect(try await store.isGood(1), "the tokens are good")
        },
    ]
}
