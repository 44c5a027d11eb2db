import Dispatch
import NIOCore
import NIOPosix
import StorageConformance
import Testing

@testable import HTTPAPI

/// What is on its sockets when an event loop comes round to them.
@Suite struct AnswerRoundTests {
    /// Keeps the service's loops from reading until it ends, while the clients, who have a loop of their own, send.
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

    @Test func `sign-ins that are there at once are committed together`() async throws {
        let store = CountingStore()
        var options = RunningService.Options()
        options.store = store
        let clients = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        try await RunningService.with(options) { service in
            // However they fall to the loops, each gets several.
            let count = System.coreCount * 3
            let request = RunningService.request("POST", "/v1/sign-ins", body: try Bodies.identityToken())
            let statuses = try await ProbeConnection.with(count, port: service.port, group: clients) { all in
                for connection in all {
                    try await connection.send(RunningService.request("GET", "/livez"))
                    #expect(try await connection.response().status == 200)
                }
                try await Self.whileServiceIsBusy(clients: clients) {
                    for connection in all { try await connection.send(request) }
                    // What the clients' loop was asked to send before this has been sent after it.
                    try await clients.next().submit {}.get()
                }
                var statuses: [Int] = []
                for connection in all { statuses.append(try await connection.response().status) }
                return statuses
            }
            #expect(statuses.filter { $0 == 201 }.count == 1)
            #expect(statuses.filter { $0 == 200 }.count == count - 1)
            #expect(store.batchSizes.reduce(0, +) == count)
            #expect(store.batchSizes[0] > 1)
        }
        try await clients.shutdownGracefully()
    }
}
