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
                while quiet < 20, ContinuousClock.now < end {
                    quiet = crowd.send(payload) > 0 ? 0 : quiet + 1
                    peak = max(peak, try service.residentMegabytes())
                    try await Task.sleep(for: .milliseconds(50))
                }
                #expect(peak <= Self.most, "\(attack): \(peak) MB")
                crowd.closeAll()
                try await eventually { try await backend.get("/livez").status == 200 }
                try await eventually { try service.residentMegabytes() <= before + Self.mostLeft }
                #expect(await service.stop() == 0)
            }
        }
    }
#endif
