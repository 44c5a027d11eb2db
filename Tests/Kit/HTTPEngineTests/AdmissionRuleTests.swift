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
