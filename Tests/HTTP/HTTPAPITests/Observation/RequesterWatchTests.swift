import HTTPEngine
import NIOCore
import OAuth
import Testing

@testable import HTTPAPI

@Suite struct RequesterWatchTests {
    private static let hour = RequesterWatch.window

    private static func client(_ text: String) throws -> ClientAddress {
        try #require(ClientAddress(SocketAddress(ipAddress: text, port: 1)))
    }

    @Test(arguments: ["10.0.0.7", "127.0.0.1", "fd00::7"])
    func `an hour from one private address is said once, and until another address comes`(text: String) throws
    {
        let (watch, proxy) = (RequesterWatch(), try Self.client(text))
        for number in 0..<10 {
            #expect(watch.note(proxy, looksProxied: number == 3, at: Int64(number) * 60_000) == nil)
        }
        #expect(watch.loneAddress == nil)
        let said = watch.note(proxy, looksProxied: true, at: Self.hour)
        #expect(said == proxy.requester.text && watch.loneAddress == said)
        for number in 1..<20 {
            #expect(watch.note(proxy, looksProxied: true, at: Self.hour + Int64(number)) == nil)
        }
        // Said again neither in the next hour, nor ended.
        #expect(watch.note(proxy, looksProxied: true, at: 2 * Self.hour) == nil)
        #expect(watch.loneAddress == said)
        _ = watch.note(try Self.client("203.0.113.7"), looksProxied: true, at: 2 * Self.hour + 1)
        #expect(watch.note(proxy, looksProxied: true, at: 3 * Self.hour) == nil)
        #expect(watch.loneAddress == nil)
    }

    enum Ordinary: CaseIterable {
        case few, publicAddress, twoAddresses, namedProxy, internalBackend, clockSetBack
    }

    @Test(arguments: Ordinary.allCases)
    func `an ordinary hour is not said`(hour: Ordinary) throws {
        let watch = RequesterWatch()
        for number in 0..<(hour == .few ? 9 : 20) {
            let client: ClientAddress? =
                switch hour {
                case .publicAddress: try Self.client("203.0.113.7")
                case .twoAddresses: try Self.client("10.0.0.\(number % 2)")
                case .namedProxy: nil
                case .few, .internalBackend, .clockSetBack: try Self.client("10.0.0.7")
                }
            _ = watch.note(client, looksProxied: hour != .internalBackend, at: 1000 + Int64(number))
        }
        let end = hour == .clockSetBack ? 0 : Self.hour + 2000
        #expect(watch.note(try Self.client("10.0.0.7"), looksProxied: true, at: end) == nil)
        #expect(watch.loneAddress == nil)
    }

    @Test func `the metrics show an hour from one private address while it is said`() throws {
        let (warnings, registry) = (ServiceWarnings(), MetricsRegistry())
        _ = WarningMetrics(registry, warnings: warnings)
        let proxy = try Self.client("10.0.0.7")
        func metric() -> Bool {
            String(decoding: registry.text(), as: UTF8.self).contains("\nsiwa_trusted_proxies_missing 1\n")
        }
        for number in 0..<10 {
            _ = warnings.requesters.note(proxy, looksProxied: true, at: Int64(number))
        }
        #expect(!metric())
        _ = warnings.requesters.note(proxy, looksProxied: true, at: Self.hour)
        #expect(metric())
        _ = warnings.requesters.note(try Self.client("203.0.113.7"), looksProxied: true, at: Self.hour + 1)
        _ = warnings.requesters.note(proxy, looksProxied: true, at: 2 * Self.hour)
        #expect(!metric())
    }
}
