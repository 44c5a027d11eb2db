import Logging
import NIOCore
import NIOPosix
import Synchronization
import TestSupport
import Testing

@testable import HTTPEngine

@Suite(.timeLimit(.hung)) struct AcceptErrorHandlerTests {
    /// Counts the reads that reach the socket.
    final class ReadCounter: ChannelOutboundHandler, Sendable {
        typealias OutboundIn = Never
        let reads = Mutex(0)
        func read(context: ChannelHandlerContext) {
            reads.withLock { $0 += 1 }
            context.read()
        }
    }

    @Test func `a listening socket that cannot accept is left alone for a while, and then tried again`()
        async throws
    {
        let counter = ReadCounter()
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.autoRead, value: false)
            .bind(host: "127.0.0.1", port: 0).get()
        let before = try await channel.eventLoop.submit {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(counter, position: .first)
            try pipeline.addHandler(
                AcceptErrorHandler(logger: .silent), position: .after(counter))
            channel.read()
            let before = counter.reads.withLock { $0 }
            for _ in 0..<100 {
                pipeline.fireErrorCaught(IOError(errnoCode: 24, reason: "accept"))
                channel.read()
            }
            #expect(counter.reads.withLock { $0 } == before)
            return before
        }.get()
        #expect(before == 1)
        while counter.reads.withLock({ $0 }) == before { try await Task.sleep(for: .milliseconds(5)) }
        #expect(counter.reads.withLock { $0 } == before + 1)
        try await channel.close()
    }
}
