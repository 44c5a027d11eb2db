import NIOCore
import NIOPosix
import Synchronization
import TestSupport
import Testing

@testable import HTTPEngine

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
