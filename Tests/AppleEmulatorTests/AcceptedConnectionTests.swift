import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import Testing

@testable import AppleEmulator

@Suite struct AcceptedConnectionTests {
    private static let group = MultiThreadedEventLoopGroup.singleton

    @Test func `a connection that is accepted and never served is closed, and the process goes on`()
        async throws
    {
        let deferred = DeferredHTTPChannel(http: HTTP1Channel(responder: { _, _, _ in }))
        let server = try await ServerBootstrap(group: Self.group)
            .childChannelInitializer { channel in
                // What Hummingbird does with it when it is cancelled: it drops the value.
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

    @Test func `is cancelled while clients connect, and the process goes on`() async throws {
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
                        // Refused or closed, as it comes.
                        let client = try? await ClientBootstrap(group: Self.group)
                            .connect(host: "127.0.0.1", port: port).get()
                        try? await client?.close()
                    }
                }
                // At another moment of their connecting each time.
                for _ in 0..<round { await Task.yield() }
                tasks.cancelAll()
                while await tasks.nextResult() != nil {}
            }
        }
    }
}
