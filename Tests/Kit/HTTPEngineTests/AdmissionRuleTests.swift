import NIOCore
import NIOPosix
import Synchronization
import TestSupport
import Testing

@testable import HTTPEngine

@Suite struct AdmissionRuleTests {
    /// An event loop with simulated rounds.
    struct Loop {
        var rule = AdmissionRule()
        var now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
        var worked = TimeAmount.seconds(5)

        /// Makes this many rounds, each with this length and this much work, in milliseconds.
        mutating func go(round: Int, for length: Int64, working: Int64) {
            for _ in 0..<round {
                (now, worked) = (now + .milliseconds(length), worked + .milliseconds(working))
                let worked = worked
                if rule.requestArrived(at: now, worked: { worked }) { rule.roundEnded() }
            }
        }

        /// Number of rejected requests out of this many.
        mutating func rejected(of count: Int, _ priority: RequestPriority = .ordinary) -> Int {
            (0..<count).count { _ in rule.decide(priority, at: now) != .admit }
        }
    }

    @Test func `admits everybody while the loop comes round in time`() {
        var loop = Loop()
        loop.go(round: 100, for: 60, working: 60)
        #expect(loop.rejected(of: 10_000) == 0)
    }

    @Test func `measures one round at a time, and only now and then`() {
        var rule = AdmissionRule()
        let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
        var asked = 0
        let worked = { () -> TimeAmount in
            asked += 1
            return .zero
        }
        var responses: [Bool] = []
        func handleCallback(after milliseconds: Int64) {
            let isMeant = rule.requestArrived(at: start + .milliseconds(milliseconds), worked: worked)
            responses.append(isMeant)
        }
        handleCallback(after: 0)
        handleCallback(after: 0)
        rule.roundEnded()
        #expect(asked == 0)
        handleCallback(after: 0)
        handleCallback(after: 0)
        rule.roundEnded()
        handleCallback(after: 1)
        #expect(asked == 2)
        handleCallback(after: 10)
        handleCallback(after: 11)
        #expect(responses == [true, false, true, false, false, false, true])
    }

    @Test func `takes a burst for no overload`() {
        var loop = Loop()
        loop.go(round: 3, for: 75, working: 75)
        #expect(loop.rejected(of: 1000) == 0)
        loop.go(round: 1, for: 5, working: 5)
        #expect(loop.rejected(of: 1000) == 0)
    }

    @Test func `takes a loop that waits for others, or for the machine, for no overload`() {
        var loop = Loop()
        loop.go(round: 100, for: 100, working: 20)
        #expect(loop.rejected(of: 1000) == 0)
        loop.go(round: 1, for: 60_000, working: 3)
        #expect(loop.rejected(of: 1000) == 0)
    }

    @Test(arguments: [(10_000, 100), (10_000, 900), (60_000, 5000)] as [(Int64, Int64)])
    func `does not take work of a loop without requests for overload`(length: Int64, working: Int64) {
        var loop = Loop()
        loop.go(round: 10, for: length, working: working)
        #expect(loop.rejected(of: 1000) == 0)
        #expect(loop.rejected(of: 1000, .notification) == 0)
    }

    @Test(arguments: [90, 30] as [Int64])
    func `turns away while rounds stay long, for no more than its share of the work`(working: Int64) {
        var loop = Loop()
        loop.go(round: 10, for: 90, working: working)
        _ = loop.rejected(of: 1000)
        var count = 0
        for _ in 0..<100 {
            loop.go(round: 1, for: 90, working: working)
            count += loop.rejected(of: 1000)
        }
        // 30 microseconds each, of 4% of the work.
        let most = Int(working) * 100 * 1000 * 4 / 100 / 30
        #expect((most * 9 / 10...most + 1).contains(count))
    }

    @Test func `cannot save for later more than a moment's share`() {
        var loop = Loop()
        loop.go(round: 1000, for: 90, working: 90)
        #expect((1...266).contains(loop.rejected(of: 10_000)))
    }

    @Test func `admits everybody again as soon as a round is short, or nothing came for a while`() {
        var loop = Loop()
        loop.go(round: 6, for: 90, working: 90)
        #expect(loop.rejected(of: 10) == 10)
        loop.go(round: 1, for: 5, working: 5)
        #expect(loop.rejected(of: 10) == 0)

        loop.go(round: 8, for: 90, working: 90)
        #expect(loop.rejected(of: 10) == 10)
        loop.go(round: 1, for: 5000, working: 1)
        #expect(loop.rejected(of: 10) == 0)
    }

    @Test func `never turns away who asks how the service is, and Apple only when it is worst`() {
        var loop = Loop()
        loop.go(round: 6, for: 90, working: 90)
        #expect(loop.rejected(of: 10, .operations) == 0)
        #expect(loop.rejected(of: 10, .notification) == 0)
        loop.go(round: 6, for: 200, working: 200)
        #expect(loop.rejected(of: 10, .operations) == 0)
        #expect(loop.rejected(of: 10, .notification) == 10)
    }

    @Test func `sends those that it turns away together back at different times`() {
        var loop = Loop()
        loop.go(round: 6, for: 90, working: 90)
        let seconds = (0..<30).compactMap { _ in
            if case .reject(let seconds) = loop.rule.decide(.ordinary, at: loop.now) {
                seconds
            } else {
                nil
            }
        }
        #expect(Set(seconds) == [1, 2, 3])
    }
}

@Suite struct EventLoopDelayTests {
    @Test(.timeLimit(.hung))
    func `it calls once, behind what its event loop has taken up meanwhile`() async throws {
        let order = Mutex<[String]>([])
        @Sendable func note(_ text: String) { order.withLock { $0.append(text) } }
        let eventLoop = MultiThreadedEventLoopGroup.singleton.any()
        let (stream, ended) = AsyncStream<Void>.makeStream()
        eventLoop.execute {
            EventLoopDelay.commits {
                note("delayed")
                #expect(eventLoop.inEventLoop)
                ended.yield()
            }
            // The loop reads until the moment is over, and then takes up what it has read.
            let end = NIODeadline.now() + .milliseconds(1)
            while NIODeadline.now() < end {}
            eventLoop.execute { note("read") }
        }
        for await _ in stream.prefix(1) {}
        // Nothing of it may be left on the loop.
        try await eventLoop.scheduleTask(in: .milliseconds(5)) {}.futureResult.get()
        #expect(order.withLock { $0 } == ["read", "delayed"])
    }
}

@Suite struct ConnectionLimitRuleTests {
    static func rule(connections: Int = 64, share: Int = 50) -> ConnectionLimitRule {
        var limits = ServerLimits()
        limits.connections = connections
        limits.addressShare = share
        limits.idleTime = .seconds(60)
        limits.leastIdleTime = .seconds(1)
        return ConnectionLimitRule(ConnectionLimitRule.Bounds(limits))
    }

    static func client(_ address: String) throws -> ClientAddress {
        try #require(ClientAddress(SocketAddress(ipAddress: address, port: 1)))
    }

    @Test func `makes room when the places are nearly taken`() {
        var rule = Self.rule()
        for _ in 0..<60 { #expect(rule.opened(from: nil) == .fine) }
        for _ in 0..<4 { #expect(rule.opened(from: nil) == .makeRoom) }
        for _ in 0..<4 { _ = rule.closed(from: nil) }
        _ = rule.closed(from: nil)
        #expect(rule.opened(from: nil) == .fine)
    }

    @Test func `gives an address its share, and every other one too`() throws {
        var rule = Self.rule()
        let (first, second) = (try Self.client("192.0.2.1"), try Self.client("192.0.2.2"))
        for _ in 0..<32 { #expect(rule.opened(from: first) == .fine) }
        #expect(rule.opened(from: first) == .replace(first.networks[0]))
        _ = rule.closed(from: first)
        #expect(rule.opened(from: second) == .fine)
        _ = rule.closed(from: first)
        #expect(rule.opened(from: first) == .fine)
    }

    @Test func `the networks of one home line have a share together`() throws {
        var rule = Self.rule(share: 10)
        // Six for an address, twelve for a /56, and twenty-four for a /48.
        for number in 0..<12 {
            #expect(rule.opened(from: try Self.client("2001:db8:0:\(number)::1")) == .fine)
        }
        let thirteenth = try Self.client("2001:db8:0:ff::1")
        #expect(rule.opened(from: thirteenth) == .replace(thirteenth.networks[1]))
        _ = rule.closed(from: thirteenth)
        for number in 1...12 {
            #expect(rule.opened(from: try Self.client("2001:db8:0:\(number)00::1")) == .fine)
        }
        let next = try Self.client("2001:db8:0:f00::1")
        #expect(rule.opened(from: next) == .replace(next.networks[2]))
        #expect(rule.opened(from: try Self.client("2001:db8:1::1")) == .fine)
        // A network with connections has a place in the table, and no other.
        #expect(next.isIn(next.networks[2]) && thirteenth.isIn(next.networks[2]))
        #expect(!thirteenth.isIn(next.networks[1]))
    }

    @Test(arguments: [(1, 50), (1, 1), (3, 1)])
    func `lets an address have one connection at least`(connections: Int, share: Int) throws {
        var rule = Self.rule(connections: connections, share: share)
        let client = try Self.client("192.0.2.1")
        #expect(rule.opened(from: client) != .replace(client.networks[0]))
        #expect(rule.opened(from: client) == .replace(client.networks[0]))
    }

    @Test func `lets idle connections have less time the more there are`() {
        var rule = Self.rule()
        var times: [TimeAmount] = []
        for _ in 0..<64 {
            _ = rule.opened(from: nil)
            times.append(rule.idleTime)
        }
        #expect(times[0...31].allSatisfy { $0 == .seconds(60) })
        #expect(zip(times[31...59], times[32...59]).allSatisfy { $0 > $1 })
        #expect(times[59...].allSatisfy { $0 == .seconds(1) })
    }

    @Test func `says when a crowd has dispersed, and of few nothing`() {
        var rule = Self.rule(connections: 4096)
        for _ in 0..<100 { _ = rule.opened(from: nil) }
        for _ in 0..<100 { #expect(rule.closed(from: nil) == false) }
        for _ in 0..<1000 { _ = rule.opened(from: nil) }
        var dispersed = 0
        for _ in 0..<1000 where rule.closed(from: nil) { dispersed += 1 }
        #expect(dispersed == 3)
    }
}

@Suite struct AddressBlockTests {
    @Test(arguments: [
        ("10.0.0.7", "10.0.0.7", true), ("10.0.0.7", "10.0.0.8", false), ("10.0.0.0/8", "10.255.0.1", true),
        ("10.0.0.0/8", "11.0.0.1", false), ("10.9.9.9/8", "10.0.0.1", true),
        ("0.0.0.0/0", "203.0.113.9", true),
        ("0.0.0.0/0", "2001:db8::1", false), ("127.0.0.1", "::ffff:127.0.0.1", true),
        ("::ffff:10.0.0.0/104", "10.1.2.3", true), ("fd00::/8", "fdff::1", true),
        ("fd00::/8", "fe00::1", false),
        ("2001:db8::/64", "2001:db8::ffff:1", true), ("2001:db8::/65", "2001:db8:0:0:8000::1", false),
        ("::1", "::1", true), ("::1", "::2", false), ("::/0", "2001:db8::1", true),
    ])
    func `holds the addresses of its network`(block: String, address: String, isInside: Bool) throws {
        let block = try #require(AddressBlock(block))
        #expect(block.contains(try SocketAddress(ipAddress: address, port: 80)) == isInside)
    }

    @Test(arguments: [
        ("0.0.0.0/0", true), ("10.0.0.7/0", true), ("::/0", true), ("::ffff:0:0/96", true), ("::/64", true),
        ("::/8", true), ("10.0.0.0/8", false), ("0.0.0.0/8", false), ("fd00::/8", false), ("::1", false),
        ("127.0.0.1", false), ("::ffff:10.0.0.0/104", false), ("2001:db8::/32", false),
        ("0.0.0.0/1 128.0.0.0/1", true), ("0.0.0.0/1 128.0.0.0/2 192.0.0.0/3", true),
        ("0.0.0.0/1 128.0.0.0/2", false), ("::/1 8000::/1", true), ("2000::/3", true),
        ("2000::/4 3000::/4", true), ("2000::/4 3000::/5", false), ("0.0.0.0/1 8000::/1", false),
        ("128.0.0.0/1 0.0.0.0/2 64.0.0.0/3 96.0.0.0/4 112.0.0.0/5 120.0.0.0/6 124.0.0.0/7 126.0.0.0/8", true),
        ("", false), ("10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fd00::/8", false),
    ])
    func `says when blocks together have every public address`(text: String, hasAll: Bool) throws {
        let blocks = try text.split(separator: " ").map { try #require(AddressBlock(String($0))) }
        #expect(AddressBlock.holdEveryAddress(blocks) == hasAll)
    }

    @Test(arguments: [
        "", "proxy", "10.0.0", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "/8", "::/129", "10.0.0.0/8/8",
        "[::1]",
        "10.0.0.0/+8", "10.0.0.0/008", "10.0.0.7:80",
    ])
    func `is nothing else`(text: String) { #expect(AddressBlock(text) == nil) }

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false),
        ("192.0.2.1", "::ffff:192.0.2.1", true), ("2001:db8::1", "2001:db8::ffff:2", true),
        ("2001:db8::1", "2001:db8:0:1::1", false), ("::1", "192.0.2.1", false),
    ])
    func `one client is an address of version 4 or a /64 of version 6`(
        first: String, second: String, isSame: Bool
    ) throws {
        let clients = try [first, second].map { ClientAddress(try SocketAddress(ipAddress: $0, port: 1)) }
        #expect((clients[0] == clients[1]) == isSame)
    }

    /// The proxies are 10.0.0.0/8 and 192.0.2.1.
    @Test(
        arguments: [
            ("203.0.113.7", "203.0.113.7"), ("203.0.113.7, 10.0.0.1", "203.0.113.7"),
            ("203.0.113.7,192.0.2.1 , 10.0.0.1", "203.0.113.7"),
            ("1.2.3.4, 203.0.113.7, 10.0.0.1", "203.0.113.7"),
            ("10.9.9.9, 203.0.113.7", "203.0.113.7"), ("10.0.0.2, 10.0.0.1", "10.0.0.2"),
            ("10.0.0.1", "10.0.0.1"),
            ("203.0.113.7:17085", "203.0.113.7"), ("[2001:db8::7]:443", "2001:db8::7"),
            ("[2001:db8::7]", "2001:db8::7"), ("2001:db8::7", "2001:db8::7"),
            ("::ffff:203.0.113.7", "203.0.113.7"),
            ("203.0.113.7:1, 10.0.0.1:2", "203.0.113.7"), ("1.2.3.4, unknown", nil), ("1.2.3.4,", nil),
            ("", nil),
            ("1.2.3.4, unknown, 10.0.0.1", "10.0.0.1"), ("203.0.113.7:", nil), ("203.0.113.7:99999", nil),
            ("203.0.113.7:+1", nil), ("[203.0.113.7]", nil), ("[2001:db8::7", nil), ("[2001:db8::7]443", nil),
            ("1.2.3.4 5.6.7.8", nil), ("_hidden", nil),
        ] as [(String, String?)])
    func `the requester is the last address of no named proxy`(field: String, expected: String?) throws {
        let proxies = try ["10.0.0.0/8", "192.0.2.1"].map { try #require(AddressBlock($0)) }
        let address = try expected.map { try #require(ClientAddress(SocketAddress(ipAddress: $0, port: 0))) }
        #expect(proxies.requester(forwardedFor: field) == address)
        let long = String(repeating: "9.9.9.9, ", count: 2000)
        if expected != nil, !field.hasPrefix("10.0.0") {
            #expect(proxies.requester(forwardedFor: long + field) == address)
        }
    }

    @Test(arguments: [
        ("10.0.0.7", true), ("127.0.0.1", true), ("172.31.0.1", true), ("172.32.0.1", false),
        ("192.168.1.1", true), ("169.254.1.1", true), ("100.64.0.1", true), ("100.128.0.1", false),
        ("203.0.113.7", false), ("::1", true), ("fd12::1", true), ("fe80::1", true), ("fec0::1", false),
        ("2001:db8::1", false), ("::ffff:10.0.0.1", true),
    ])
    func `knows the addresses that no client in the Internet has`(text: String, isPrivate: Bool) throws {
        let address = try #require(ClientAddress(SocketAddress(ipAddress: text, port: 0)))
        #expect(address.isPrivate == isPrivate)
    }
}

@Suite struct RecencyListTests {
    static func all(_ list: RecencyList<Int>) -> [Int] {
        var elements: [Int] = []
        _ = list.first { element in
            elements.append(element)
            return false
        }
        return elements
    }

    @Test func `keeps the order of the last use`() {
        var list = RecencyList<Int>()
        let places = (0..<4).map { list.append($0) }
        #expect(Self.all(list) == [0, 1, 2, 3])
        list.moveToEnd(places[3])
        #expect(Self.all(list) == [0, 1, 2, 3])
        list.moveToEnd(places[0])
        list.moveToEnd(places[2])
        #expect(Self.all(list) == [1, 3, 0, 2])
        #expect(list.first { $0 != 1 } == 3)
    }

    @Test func `forgets what is removed, and takes its place again`() {
        var list = RecencyList<Int>()
        let places = (0..<3).map { list.append($0) }
        list.remove(places[1])
        #expect(Self.all(list) == [0, 2])
        list.remove(places[2])
        list.remove(places[0])
        #expect(Self.all(list).isEmpty)
        let again = (5..<9).map { list.append($0) }
        #expect(Self.all(list) == [5, 6, 7, 8])
        list.moveToEnd(again[1])
        list.remove(again[3])
        #expect(Self.all(list) == [5, 7, 6])
    }
}
