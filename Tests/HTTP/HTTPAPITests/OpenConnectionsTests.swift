import Dispatch
import HTTPEngine
import KeySets
import NIOCore
import NIOPosix
import StorageConformance
import Testing
import TokenMint

/// Clients that hold as many connections as they can get, over real sockets.
@Suite struct OpenConnectionsTests {
    private var service: RunningService { .current }

    static let health = RunningService.request("GET", "/livez", secret: nil)
    /// Another source address than that of the other clients. Linux has all of 127.0.0.0/8.
    static let other = "127.0.0.2"

    static func options(connections: Int, share: Int = 50) -> RunningService.Options {
        var options = RunningService.Options()
        options.limits.connections = connections
        options.limits.addressShare = share
        return options
    }

    /// Keeps this many silent connections open while `body` runs.
    ///
    /// - Parameter afterEach: Runs after each opening, for connections that stay in use meanwhile.
    static func crowd(
        _ count: Int, at service: RunningService, afterEach: () async throws -> Void = {},
        _ body: ([any Channel]) async throws -> Void
    ) async throws {
        var channels: [any Channel] = []
        for _ in 0..<count {
            channels.append(
                try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                    .connect(host: "127.0.0.1", port: service.port).get())
            try await afterEach()
        }
        try await body(channels)
        for channel in channels { channel.close(promise: nil) }
    }

    /// Reads the metrics over a connection from the other address.
    static func metrics(_ service: RunningService) async throws -> String {
        try await ProbeConnection.with(port: service.port, from: other) { connection in
            try await connection.send(RunningService.request("GET", "/metrics"))
            return try await connection.response().text
        }
    }

    static func status(_ service: RunningService, from address: String) async throws -> Int {
        try await ProbeConnection.with(port: service.port, from: address) { connection in
            try await connection.send(health)
            return try await connection.response().status
        }
    }

    #if os(Linux)
        @Test(arguments: [other, "127.0.0.1"])
        func `every client is served while one client holds all it can get`(address: String) async throws {
            try await RunningService.with(Self.options(connections: 64)) { service in
                try await Self.crowd(100, at: service) { channels in
                    let began = ContinuousClock.now
                    #expect(try await Self.status(service, from: address) == 200)
                    // Long before an idle connection is closed for its age.
                    #expect(began.duration(to: .now) < .seconds(20))
                    // Its own longest idle ones went, and no more than it had to give.
                    for channel in channels[..<60] { try await channel.closeFuture.get() }
                    let metrics = try await service.get("/metrics").text
                    #expect(
                        metrics.contains(
                            "siwa_http_connections_closed_early_total{reason=\"address_share\"} "))
                    #expect(!metrics.contains("{reason=\"address_share\"} 0\n"))
                    #expect(metrics.contains("{reason=\"crowded\"} 0\n"))
                }
                let warnings = service.loggedText().split(separator: "\n").filter { $0.contains("its share") }
                #expect(warnings.count == 1)
            }
        }
    #endif

    @Test(.service(OpenConnectionsTests.options(connections: 32, share: 100)))
    func `near the cap the longest idle go first, and who is in use stays`() async throws {
        try await ProbeConnection.with(port: service.port) { inUse in
            func use() async throws {
                try await inUse.send(Self.health)
                #expect(try await inUse.response().status == 200)
            }
            try await Self.crowd(8, at: service) { old in
                for _ in 0..<10 {
                    try await Self.crowd(8, at: service) { _ in
                        try await use()
                        #expect(try await Self.status(service, from: "127.0.0.1") == 200)
                    }
                    // The closed ones count until the service has noticed. Left are the old ones, the one in
                    // use, and the one that asks.
                    while try await !Self.metrics(service).contains("siwa_http_connections 10\n") {
                        try await use()
                    }
                }
                // On a slow machine the closed ones count for so long that a connection that was not used since
                // would be next.
                try await Self.crowd(29, at: service, afterEach: use) { _ in
                    // One that was just opening when others had to go leaves with the next newcomers.
                    for _ in 0..<200 where old.contains(where: \.isActive) {
                        try await use()
                        #expect(try await Self.status(service, from: "127.0.0.1") == 200)
                    }
                    for channel in old { try await channel.closeFuture.get() }
                    try await use()
                }
            }
        }
        let warnings = service.loggedText().split(separator: "\n").filter { $0.contains("near their limit") }
        #expect(warnings.count == 1)
    }

    #if os(Linux)
        @Test func `a trusted proxy may hold more than a share`() async throws {
            var options = Self.options(connections: 64, share: 10)
            options.limits.trustedProxies = [try #require(AddressBlock("127.0.0.2/31"))]
            try await RunningService.with(options) { service in
                try await ProbeConnection.with(20, port: service.port, from: Self.other) { connections in
                    for connection in connections {
                        try await connection.send(Self.health)
                        #expect(try await connection.response().status == 200)
                    }
                    #expect(try await service.get("/metrics").text.contains("{reason=\"address_share\"} 0\n"))
                }
            }
        }

        @Test func `who waits for an answer is not closed for another, who is refused`() async throws {
            try await RunningService.with(Self.options(connections: 8)) { service in
                try await ProbeConnection.with(4, port: service.port) { waiting in
                    for connection in waiting {
                        try await connection.send(RunningService.request("GET", "/v1/events?wait=3"))
                    }
                    while try await !Self.metrics(service).contains("siwa_event_readers 4\n") {}
                    let isRefused = try await ProbeConnection.with(port: service.port) {
                        try await $0.closes()
                    }
                    #expect(isRefused)
                    for connection in waiting { #expect(try await connection.response().status == 200) }
                    #expect(try await Self.status(service, from: "127.0.0.1") == 200)
                    #expect(try await Self.metrics(service).contains("{reason=\"refused\"} 1\n"))
                }
            }
        }
    #endif
}

/// Requests that are on several sockets at the start of an event loop's round.
@Suite struct EventLoopRoundTests {
    private var service: RunningService { .current }

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

    @Test(.service { $0.keys = FetchedKeys(try PinnedKeySet(parsing: TokenMint.shared.keySet)) })
    func `a request whose key has to be fetched is committed all the same`() async throws {
        #expect(try await service.signIn().status == 201)
        let notification = try await service.post(
            "/v1/apple/notifications", body: try Bodies.notification(), secret: nil)
        #expect(notification.status == 200)
    }
}
