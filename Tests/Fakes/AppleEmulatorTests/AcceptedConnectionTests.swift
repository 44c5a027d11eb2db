import AppleEmulator
import EmulatorServer
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import TestSupport
import Testing

@Suite struct AcceptedConnectionTests {
    private static let group = MultiThreadedEventLoopGroup.singleton

    @Test func `a connection that is accepted and never served is closed, and the process continues`()
        async throws
    {
        let deferred = DeferredHTTPChannel(http: HTTP1Channel(responder: { _, _, _ in }))
        let server = try await ServerBootstrap(group: Self.group)
            .childChannelInitializer { channel in
                // When Hummingbird is cancelled, it releases the value.
                deferred.setup(channel: channel, logger: .silent).map { _ in }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let address = try #require(server.localAddress)
        for _ in 0..<20 {
            let client = try await ClientBootstrap(group: Self.group).connect(to: address).get()
            try await client.closeFuture.get()
        }
        try await server.close()
    }

    @Test func `can be cancelled while clients connect, and the process continues`() async throws {
        for round in 0..<40 {
            var configuration = try EmulatorConfiguration(teamID: "T", clientIDs: ["a"])
            configuration.keys = try await TestKeys.keys()
            let emulator = try await EmulatedApple(
                configuration: configuration, clock: TestClock().emulatorClock, logger: .silent)
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { try await emulator.run() }
                let port = try await emulator.port()
                for _ in 0..<16 {
                    tasks.addTask {
                        // Refused or closed.
                        let client = try? await ClientBootstrap(group: Self.group)
                            .connect(host: "127.0.0.1", port: port).get()
                        try? await client?.close()
                    }
                }
                // At a different time of the connection in each round.
                for _ in 0..<round { await Task.yield() }
                tasks.cancelAll()
                while await tasks.nextResult() != nil {}
            }
        }
    }
}
