import Foundation
import HTTPAPI
import HTTPEngine
import TestSupport
import Testing

@testable import Composition

#if os(Linux)
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
