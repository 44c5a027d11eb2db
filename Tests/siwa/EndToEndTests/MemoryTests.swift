import Foundation
import HTTPAPI
import HTTPEngine
import TestSupport
import Testing

@testable import Composition

#if os(Linux)
    /// The memory that clients without a key can make the service use, measured with a separate process.
    @Suite(.serialized) struct MemoryTests {
        static let connections = 4000
        /// Megabytes.
        static let most = 250
        /// Megabytes above the memory of the process before the clients connected.
        static let mostLeft = 60

        /// Bytes that each client sends, as far as the service reads them.
        enum Attack: String, CaseIterable {
            case smallRequests, smallRequestsAfterLargeReads, smallChunks, endlessBody, endlessHeader,
                endlessSpace

            var bytes: [UInt8] {
                let text =
                    switch self {
                    case .smallRequests: behind + many(small, 2600)
                    case .smallRequestsAfterLargeReads:
                        many(post("Content-Length: 60000") + many(" ", 60_000), 2) + behind
                            + many(small, 2600)
                    case .smallChunks: behind + post("Transfer-Encoding: chunked") + many("1\r\na\r\n", 5000)
                    case .endlessBody: post("Content-Length: 65536") + many("a", 65_535)
                    case .endlessHeader: "GET / HTTP/1.1\r\nHost: a\r\nX: " + many("a", 16_000)
                    case .endlessSpace: "GET / HTTP/1.1\r\nHost: a\r\nX:" + many(" ", 200_000)
                    }
                return Array(text.utf8)
            }

            /// The smallest possible request, 25 bytes.
            private var small: String { "GET / HTTP/1.1\r\nHost:\r\n\r\n" }
            /// Requests whose responses the clients do not read.
            private var behind: String { many("GET /openapi.yaml HTTP/1.1\r\nHost: a\r\n\r\n", 30) }

            private func post(_ field: String) -> String {
                "POST /v1/apple/notifications HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n\(field)\r\n\r\n"
            }

            private func many(_ text: String, _ count: Int) -> String {
                String(repeating: text, count: count)
            }
        }

        @Test(arguments: Attack.allCases)
        func `clients without a key cannot fill the memory`(attack: Attack) async throws {
            // Fails where the machine allows fewer open files: a skipped test would prove nothing.
            try #require(ServerLimits.openFiles() >= Self.connections + 500)
            try await TemporaryDirectory.with { directory in
                let variables = try ServiceProcess.variables(directory, ["SIWA_ADDRESS_SHARE": "100"])
                let service = try await ServiceProcess.serve(directory, variables)
                let backend = service.backend
                #expect(try await backend.get("/livez").status == 200)
                let before = try service.residentMegabytes()
                let crowd = ClientCrowd()
                try crowd.connect(Self.connections, port: service.port)
                let payload = attack.bytes
                var peak = 0
                // Until no client can send for a while, but not forever: each new request of a slow client
                // can be followed by another one.
                var quiet = 0
                let end = ContinuousClock.now + .seconds(20)
                while quiet < 7, ContinuousClock.now < end {
                    quiet = crowd.send(payload) > 0 ? 0 : quiet + 1
                    peak = max(peak, try service.residentMegabytes())
                    try await Task.sleep(for: .milliseconds(150))
                }
                #expect(peak <= Self.most, "\(attack): \(peak) MB")
                crowd.closeAll()
                try await eventually { try await backend.get("/livez").status == 200 }
                try await eventually { try service.residentMegabytes() <= before + Self.mostLeft }
                #expect(await service.stop() == 0)
            }
        }
    }

    /// Thousands of silent connections, to a separate process with the default limits.
    @Suite(.serialized) struct SilentCrowdTests {
        @Test func `six thousand silent connections do not block other clients`() async throws {
            // Fails where the machine allows fewer open files: a skipped test would prove nothing.
            try #require(ServerLimits.openFiles() >= 7000)
            try await TemporaryDirectory.with { directory in
                let variables = try ServiceProcess.variables(directory)
                let service = try await ServiceProcess.serve(directory, variables)
                let backend = service.backend
                let crowd = ClientCrowd()
                for _ in 0..<6 {
                    try crowd.connect(1000, port: service.port)
                    // The fastest of three: other tests run at the same time.
                    var fastest = Duration.seconds(60)
                    for _ in 0..<3 {
                        let began = ContinuousClock.now
                        #expect(try await backend.get("/livez").status == 200)
                        fastest = min(fastest, began.duration(to: .now))
                    }
                    #expect(fastest < .seconds(1))
                }
                // Each connection beyond the share has another one closed, on another thread.
                try await eventually { try await Self.openConnections(backend) <= 2060 }
                let notices = service.logText.split(separator: "\n").filter { $0.contains("holds its share") }
                #expect(notices.count == 1)
                crowd.closeAll()
                #expect(await service.stop() == 0)
            }
        }

        private static func openConnections(_ backend: Backend) async throws -> Int {
            let metrics = try await backend.get("/metrics").text
            let line = metrics.split(separator: "\n").first { $0.hasPrefix("siwa_http_connections ") }
            return try #require(line?.split(separator: " ").last.flatMap { Int($0) })
        }
    }
#endif
