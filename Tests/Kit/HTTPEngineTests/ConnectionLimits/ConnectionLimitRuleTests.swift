import NIOCore
import Testing

@testable import HTTPEngine

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
