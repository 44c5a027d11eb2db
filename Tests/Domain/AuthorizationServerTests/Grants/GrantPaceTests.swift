import AppleAccounts
import StorageConformance
import Testing

@testable import AuthorizationServer

/// A user who agrees and revokes again and again adds two events to the feed each time.
@Suite struct GrantPaceTests {
    private func pace() -> GrantPace {
        GrantPace(accountID: GrantDesk.account, oauthClientID: "phone", begunAt: 1000)
    }

    @Test func `so many grants are new within an hour, and no more`() {
        var pace = pace()
        let counted = (0..<GrantPace.most).map { _ in pace.countGrant(at: 1000) }
        #expect(!counted.contains(false))
        let full = pace
        let isOneMore = pace.countGrant(at: 3_600_999)
        #expect(!isOneMore && pace == full)
        let isLaterOne = pace.countGrant(at: 3_601_000)
        #expect(isLaterOne)
        #expect(pace.begunAt == 3_601_000)
        #expect(pace.count == 1)
    }

    @Test func `so many token families begin within an hour, and no more`() {
        var pace = pace()
        let counted = (0..<GrantPace.mostFamilies).map { _ in pace.countFamily(at: 1000) }
        #expect(!counted.contains(false) && GrantPace.mostFamilies == 100)
        let full = pace
        let isOneMore = pace.countFamily(at: 3_600_999)
        #expect(!isOneMore && pace == full)
        // New grants have a bound of their own.
        let isGrant = pace.countGrant(at: 3_600_999)
        #expect(isGrant)
        let isLaterOne = pace.countFamily(at: 3_601_000)
        #expect(isLaterOne && pace.families == 1 && pace.count == 0)
    }

    /// Every grant type that begins a token family.
    @Test(
        arguments: [
            .redeem(.sample(1)),
            .pollDevice(PollDeviceCommand(.sample(1, redirectURI: PollDeviceCommand.redirectURI))),
            .exchange(.sample(2, account: GrantDesk.account)),
            .assertion(.sample(2, account: GrantDesk.account, client: "phone")),
        ] as [GrantCommand])
    func `no grant type begins a token family past the pace, and nothing changes`(command: GrantCommand) {
        for isFull in [true, false] {
            var desk = GrantDesk()
            if case .pollDevice = command {
                desk.apply(
                    .authorize(
                        .sample(1, account: GrantDesk.account, redirectURI: PollDeviceCommand.redirectURI)))
            } else {
                desk.authorizeCode()
            }
            var set = desk.set([command])
            if isFull {
                set.load(
                    GrantPace(
                        accountID: GrantDesk.account, oauthClientID: "phone", begunAt: 1_999_000,
                        families: GrantPace.mostFamilies))
            }
            var generator = SystemRandomNumberGenerator()
            switch set.applyCommands(using: &generator)[0] {
            case .success: #expect(!isFull && set.changedPaces.map(\.families) == [1])
            case .failure(let error):
                #expect(isFull && (error as? GrantRefusal)?.code == .tooManyFamilies)
                #expect(set.changes.isEmpty && set.changedPaces.isEmpty)
                #expect(set.events.isEmpty && set.audit.isEmpty)
            }
        }
    }

    @Test func `a refused grant changes nothing, and one that goes on is not new`() {
        let full = GrantDesk.fullPace
        var set = GrantWorkingSet([
            .authorize(.sample(1, account: GrantDesk.account)),
            .authorize(.sample(2, account: GrantDesk.account, client: "tablet")),
            .authorize(.sample(3, account: GrantDesk.account, client: "tablet")),
        ])
        set.load(GrantDesk().user)
        set.load(full)
        var generator = SystemRandomNumberGenerator()
        let results = set.applyCommands(using: &generator)
        #expect(throws: GrantRefusal(.tooManyGrants)) { try results[0].get() }
        #expect(set.events.count == 1)
        #expect(set.changes.grants.map(\.oauthClientID) == ["tablet"])
        #expect(set.changedPaces.map(\.count) == [1])
    }

    @Test func `a native sign-in past the pace gives no token`() {
        var set = GrantWorkingSet([.exchange(.sample(account: GrantDesk.account))])
        set.load(GrantDesk().user)
        set.load(GrantDesk.fullPace)
        var generator = SystemRandomNumberGenerator()
        let results = set.applyCommands(using: &generator)
        #expect(throws: GrantRefusal(.tooManyGrants)) { try results[0].get() }
        #expect(set.events.isEmpty && set.changes.families.isEmpty && set.changedPaces.isEmpty)
    }
}

extension GrantDesk {
    fileprivate static var fullPace: GrantPace {
        GrantPace(accountID: account, oauthClientID: "phone", begunAt: 1_999_000, count: GrantPace.most)
    }
}

/// Limits on the storage of one client for one account: beyond each limit the oldest entry is removed.
@Suite struct LimitTests {
    @Test func `an eleventh refresh token of a client ends the oldest, silently`() {
        var desk = GrantDesk()
        for number in 1...11 { desk.link(UInt64(number), at: Self.moment(number)) }
        #expect(desk.lineNumbers == Array(2...11))
        #expect(desk.endings.isEmpty)
        // That it has ended is no theft: nothing else ends.
        #expect(desk.apply(.refresh(.sample(SampleToken(family: 1)))).refusal == .refreshTokenNotFound)
        #expect(desk.lineNumbers.count == 10)
    }

    @Test func `a refresh does not make a family younger`() {
        var desk = GrantDesk()
        for number in 1...10 { desk.link(UInt64(number), at: Self.moment(number)) }
        desk.apply(.refresh(.sample(SampleToken(family: 1), at: 2_500_000)))
        desk.link(11, at: 2_500_001)
        #expect(!desk.lineNumbers.contains(1))
    }

    @Test func `families past their end take no place`() {
        var desk = GrantDesk()
        for number in 1...10 {
            desk.authorizeCode(UInt64(number))
            desk.apply(.redeem(.sample(UInt64(number), expiresAt: 2_400_000)))
        }
        desk.link(11, at: 2_400_000)
        #expect(desk.lineNumbers.count == 11)
    }

    @Test func `past the limit of the account the oldest family of any native client ends, with its grant`() {
        var desk = GrantDesk()
        let limits = FamilyLimits(perClient: 10, perAccount: 3)
        for number in 1...4 {
            desk.link(UInt64(number), client: "client-\(number)", limits: limits, at: Self.moment(number))
        }
        #expect(desk.lineNumbers == [2, 3, 4])
        #expect(desk.endings == [.replaced])
        #expect(desk.grants.count == 3)
    }

    @Test func `no other client ever ends a link with Google, or a family of a web client`() {
        var desk = GrantDesk()
        desk.link(1, client: "google", isNative: false, forGoogle: true, at: Self.moment(1))
        desk.link(2, client: "site", isNative: false, at: Self.moment(2))
        let limits = FamilyLimits(perClient: 10, perAccount: 3)
        for number in 3...12 {
            desk.link(UInt64(number), client: "client-\(number)", limits: limits, at: Self.moment(number))
        }
        #expect(desk.lineNumbers == [1, 2, 10, 11, 12])
        #expect(desk.reported.isEmpty)
    }

    @Test func `Google is not told of its own token that a newer one of its own has replaced`() {
        var desk = GrantDesk()
        for number in 1...11 {
            desk.link(
                UInt64(number), client: "google", isNative: false, forGoogle: true, at: Self.moment(number))
        }
        #expect(desk.lineNumbers == Array(2...11))
        #expect(desk.reported.isEmpty)
    }

    @Test func `families without a refresh token have 100 places of their own`() {
        var desk = GrantDesk()
        desk.link(1000, at: 2_000_000)
        for number in 1...101 { desk.link(UInt64(number), hasRefreshToken: false, at: Self.moment(number)) }
        #expect(desk.lineNumbers == Array(2...101) + [1000])
    }

    @Test func `a grant has 100 codes, and a new one makes the oldest be forgotten`() {
        var desk = GrantDesk()
        for number in 1...101 { desk.authorizeCode(UInt64(number), at: Self.moment(number)) }
        #expect(desk.codes.count == 100)
        #expect(desk.apply(.redeem(.sample(1))).refusal == .codeNotFound)
        #expect(desk.apply(.redeem(.sample(2))).issued != nil)
    }

    private static func moment(_ number: Int) -> Moment { Moment(milliseconds: 2_000_000 + Int64(number)) }
}

@Suite struct UserCodeTests {
    @Test(arguments: [
        "BCDFGHJK", "BCDF-GHJK", "bcdf-ghjk", " bcdf ghjk ", "b-c-d-f-g-h-j-k", "BCDF\u{2013}GHJK",
        "BCDF\u{2011}GHJK", "BCDF\u{A0}GHJK",
    ])
    func `reads a code without regard to case, dashes and spaces`(entry: String) {
        #expect(UserCode(entered: entry)?.text == "BCDFGHJK")
        #expect(UserCode(entered: entry)?.shown == "BCDF-GHJK")
    }

    @Test(arguments: [
        "", "-", "BCDFGHJ", "BCDFGHJKL", "ABCDFGHJ", "BCDFGHJY", "BCDFGHJ0", "BCDFGHJ\u{212A}",
        "\u{FF22}CDFGHJK", "BCDF_GHJK", "BCDF\u{0}GHJK", "BCDFGHJK'",
        String(repeating: "-", count: 57) + "BCDFGHJK",
    ])
    func `refuses a text that no device shows`(entry: String) { #expect(UserCode(entered: entry) == nil) }

    @Test func `takes each letter with the same probability, and no random byte that would prefer some`() {
        // 240 to 255 would prefer the first sixteen letters.
        let mixed = UserCode(random: { Array(repeating: 255, count: $0 - 8) + Array(232..<240) })
        #expect(mixed.text == UserCode(random: { _ in Array(232..<240) }).text)
        var number: UInt8 = 0
        var counts: [Character: Int] = [:]
        for _ in 0..<600 {
            let code = UserCode(random: { count in
                (0..<count).map { _ in
                    number &+= 1
                    return number
                }
            })
            for letter in code.text { counts[letter, default: 0] += 1 }
        }
        #expect(counts.count == 20)
        #expect(counts.values.allSatisfy { (200...280).contains($0) })
    }

    @Test func `no description shows a code`() {
        let code = UserCode(random: { Array(repeating: 1, count: $0) })
        let device = DeviceCodeText(random: Array(repeating: 1, count: 32))
        for text in ["\(code)", String(reflecting: code), "\(device)", String(reflecting: device)] {
            #expect(!text.contains(code.text) && !text.contains(device.text))
        }
    }

    @Test(arguments: ["", "siwa_dc_", "siwa_ac_" + String(repeating: "A", count: 43), "x"])
    func `reads no device code that was not made here`(text: String) {
        #expect(DeviceCodeText(parsing: text) == nil)
    }

    @Test func `keeps the visible characters of the origin only, within its bounds`() {
        let origin = DeviceAuthorization.Origin(
            address: "203.0.113.7",
            userAgent: "TV/1\u{1B}[31m\u{202E}\r\nX: y" + String(repeating: "z", count: 500))
        #expect(origin.userAgent?.hasPrefix("TV/1[31mX: yzzz") == true)
        #expect(origin.userAgent?.count == DeviceAuthorization.Origin.longestUserAgent)
        #expect(DeviceAuthorization.Origin(address: nil, userAgent: "\u{0}").userAgent == nil)
    }
}
