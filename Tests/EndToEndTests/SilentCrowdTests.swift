import Foundation
import Testing

#if os(Linux)
    /// Thousands of silent connections, on a process of its own with its usual limits.
    @Suite(.serialized) struct SilentCrowdTests {
        @Test func `six thousand silent connections keep nobody out`() async throws {
            // Fails where the machine allows fewer open files: a skipped test would prove nothing.
            try #require(ClientCrowd.raiseFileLimit() >= 7000)
            try await TemporaryDirectory.with { directory in
                let variables = try CrashTests.variables(directory)
                let service = try await ServiceProcess.serve(directory, variables)
                let backend = Backend(port: service.port, secret: CrashTests.secret)
                let crowd = ClientCrowd()
                for _ in 0..<6 {
                    try crowd.connect(1000, port: service.port)
                    let began = ContinuousClock.now
                    #expect(try await backend.get("/livez").status == 200)
                    #expect(began.duration(to: .now) < .seconds(1))
                }
                let metrics = try await backend.get("/metrics").text
                let open = metrics.split(separator: "\n").first { $0.hasPrefix("siwa_http_connections ") }
                let count = try #require(open?.split(separator: " ").last.flatMap { Int($0) })
                #expect(count <= 2060)
                let notices = service.logText.split(separator: "\n").filter { $0.contains("holds its share") }
                #expect(notices.count == 1)
                crowd.closeAll()
                #expect(await service.stop() == 0)
            }
        }
    }
#endif
