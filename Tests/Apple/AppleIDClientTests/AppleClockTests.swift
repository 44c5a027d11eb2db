import AsyncHTTPClient
import Encodings
import ScriptedHTTP
import Synchronization
import TestSupport
import Testing

@testable import AppleIDClient

@Suite struct AppleClockTests {
    static let start: Int64 = 1_795_480_000

    /// A machine whose clock can be set, and whose uptime nothing changes.
    final class Machine: Sendable {
        private let clock = Mutex(start * 1000)
        private let uptime = Mutex(Duration.seconds(100))

        func set(byMilliseconds difference: Int64) { clock.withLock { $0 += difference } }

        func pass(_ seconds: Int64) {
            set(byMilliseconds: seconds * 1000)
            uptime.withLock { $0 += .seconds(seconds) }
        }

        func makeClock() -> AppleClock {
            AppleClock(
                millisecondsSince1970: { self.clock.withLock { $0 } },
                uptime: { self.uptime.withLock { $0 } })
        }
    }

    static let date = HTTPDate.text(secondsSince1970: start)

    @Test func `nothing is known before Apple has answered`() {
        let clock = Machine().makeClock()
        #expect(clock.secondsAhead == nil)
        clock.notice(date: nil, age: nil)
        clock.notice(date: "yesterday", age: nil)
        #expect(clock.secondsAhead == nil)
    }

    @Test func `a clock that is set wrong shows at once, also between two answers of Apple`() {
        let machine = Machine()
        let clock = machine.makeClock()
        clock.notice(date: Self.date, age: nil)
        #expect(clock.secondsAhead == 0)
        machine.pass(3600)
        #expect(clock.secondsAhead == 0)
        machine.set(byMilliseconds: -120_000)
        #expect(clock.secondsAhead == -120)
        machine.pass(86_400)
        #expect(clock.secondsAhead == -120)
        machine.set(byMilliseconds: 720_000)
        #expect(clock.secondsAhead == 600)
        clock.notice(date: HTTPDate.text(secondsSince1970: Self.start + 90_000), age: nil)
        #expect(clock.secondsAhead == 600)
    }

    @Test(
        arguments: [("30", -30), (nil, 0), ("-5", 0), ("x", 0), ("99999999999999999999", 0)]
            as [(String?, Int64)])
    func `an answer from a cache is as old as it says`(age: String?, ahead: Int64) {
        let clock = Machine().makeClock()
        clock.notice(date: Self.date, age: age)
        #expect(clock.secondsAhead == ahead)
    }

    @Test(arguments: [
        "Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "Sun, 06 Nov 1994 08:49:37 GMT",
    ])
    func `no date ends the process`(date: String) {
        let clock = Machine().makeClock()
        clock.notice(date: date, age: "604800")
        #expect(clock.secondsAhead != nil)
    }

    @Test(.timeLimit(.hung)) func `the answer with the key set says the time, whatever its status`()
        async throws
    {
        let server = try await ScriptedServer(
            always: .send("HTTP/1.1 503 Unavailable\r\nDate: \(Self.date)\r\nContent-Length: 0\r\n\r\n"))
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: .apple())
        let clock = Machine().makeClock()
        let endpoints = try #require(AppleEndpoints(baseURL: server.baseURL))
        _ = try? await HTTPKeySetSource(client: client, endpoints: endpoints, clock: clock)
            .fetch(ifNoneMatch: nil)
        try await client.shutdown()
        try await server.close()
        #expect(clock.secondsAhead == 0)
    }
}
