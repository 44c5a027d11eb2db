import Dispatch
import KeySets
import NIOCore
import NIOPosix
import StorageConformance
import Testing
import TokenMint

@testable import HTTPAPI

/// Requests that are on several sockets at the start of an event loop's round.
@Suite struct EventLoopRoundTests {
    /// Keeps the service's loops from reading until `body` ends, while the clients send on a loop of their
    /// own.
    private static func whileServiceIsBusy(
        clients: MultiThreadedEventLoopGroup, _ send: () async throws -> Void
    ) async throws {
        let end = DispatchSemaphore(value: 0)
        let loops = Array(MultiThreadedEventLoopGroup.singleton.makeIterator())
        let areBusy = loops.map { loop in
            let isBusy = clients.next().makePromise(of: Void.self)
            loop.execute {
                isBusy.succeed()
                end.wait()
            }
            return isBusy.futureResult
        }
        defer { for _ in loops { end.signal() } }
        for isBusy in areBusy { try await isBusy.get() }
        try await send()
    }

    /// The statuses of the responses to this many equal requests, which arrive at the same time.
    private static func statuses(
        of request: String, count: Int, from service: RunningService
    ) async throws -> [Int] {
        let clients = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let statuses = try await ProbeConnection.with(count, port: service.port, group: clients) { all in
            for connection in all {
                try await connection.send(RunningService.request("GET", "/livez"))
                #expect(try await connection.response().status == 200)
            }
            try await whileServiceIsBusy(clients: clients) {
                for connection in all { try await connection.send(request) }
                // What the clients' loop was asked to send before this has been sent after it.
                try await clients.next().submit {}.get()
            }
            var statuses: [Int] = []
            for connection in all { statuses.append(try await connection.response().status) }
            return statuses
        }
        try await clients.shutdownGracefully()
        return statuses
    }

    /// Number of requests that gives each loop several requests.
    private static let requestCount = System.coreCount * 3

    @Test func `sign-ins that are there at once are committed together`() async throws {
        let store = CountingStore()
        var options = RunningService.Options()
        options.store = store
        try await RunningService.with(options) { service in
            let request = RunningService.request("POST", "/v1/sign-ins", body: try Bodies.identityToken())
            let count = Self.requestCount
            let statuses = try await Self.statuses(of: request, count: count, from: service)
            #expect(statuses.filter { $0 == 201 }.count == 1)
            #expect(statuses.filter { $0 == 200 }.count == count - 1)
            #expect(store.batchSizes.reduce(0, +) == count)
            #expect(store.batchSizes[0] > 1)
        }
    }

    @Test func `notifications that are there at once are committed together`() async throws {
        let store = CountingStore()
        var options = RunningService.Options()
        options.store = store
        try await RunningService.with(options) { service in
            let request = RunningService.request(
                "POST", "/v1/apple/notifications", body: try Bodies.notification(), secret: nil)
            let count = Self.requestCount
            let statuses = try await Self.statuses(of: request, count: count, from: service)
            #expect(statuses.filter { $0 == 200 }.count == count)
            #expect(store.batchSizes.reduce(0, +) == count)
            #expect(store.batchSizes[0] > 1)
        }
    }

    @Test func `a request whose key has to be fetched is committed all the same`() async throws {
        var options = RunningService.Options()
        options.keys = FetchedKeys(try PinnedKeySet(parsing: TokenMint.shared.keySet))
        try await RunningService.with(options) { service in
            let signIn = try await service.call("POST", "/v1/sign-ins", body: try Bodies.identityToken())
            #expect(signIn.status == 201)
            let notification = try await service.call(
                "POST", "/v1/apple/notifications", body: try Bodies.notification(), secret: nil)
            #expect(notification.status == 200)
        }
    }
}
