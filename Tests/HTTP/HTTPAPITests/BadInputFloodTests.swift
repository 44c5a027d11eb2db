import HTTPAPI
import NIOCore
import StrictJSON
import TestSupport
import Testing
import TokenMint

/// Random malformed input.
@Suite struct BadInputFloodTests {
    @Test func `mutilated requests never make the service fail or fall`() async throws {
        try await RunningService.with { service in
            var generator = SeededGenerator(seed: 20_260_101)
            let good = [
                try Bodies.identityToken(), Bodies.json([("payload", .string(try Bodies.token()))]),
                #"{"client_id":"com.example.app","subs":["a","b"]}"#,
            ]
            let targets = [
                "/v1/identity-tokens/verify", "/v1/sign-ins", "/v1/credentials/query",
                "/v1/apple/notifications",
                "/v1/nonces",
            ]
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    let seed = generator.next()
                    group.addTask {
                        var generator = SeededGenerator(seed: seed)
                        for _ in 0..<60 {
                            let body = Self.mutilate(good[Int(generator.next() % 3)], &generator)
                            let target = targets[Int(generator.next() % 5)]
                            let response = try await service.call("POST", target, body: body)
                            #expect(response.status < 500, "\(target) \(body)")
                        }
                    }
                }
                try await group.waitForAll()
            }
            let alive = try await service.call("GET", "/readyz")
            #expect(alive.status == 200)
        }
    }

    @Test func `mutilated connections get one answer at most, and never a failure`() async throws {
        try await RunningService.with { service in
            var generator = SeededGenerator(seed: 7)
            let request = RunningService.request("POST", "/v1/sign-ins", body: try Bodies.identityToken())
            for _ in 0..<150 {
                let bytes = Array(Self.mutilate(request, &generator).utf8)
                try await ProbeConnection.with(port: service.port) { connection in
                    try await connection.send(bytes)
                    connection.finishSending()
                    let response = String(decoding: try await connection.rest(), as: UTF8.self)
                    #expect(
                        response.isEmpty || response.hasPrefix("HTTP/1.1 2")
                            || response.hasPrefix("HTTP/1.1 4"))
                }
            }
            let alive = try await service.call("GET", "/readyz")
            #expect(alive.status == 200)
        }
    }

    /// Cuts, doubles, swaps and replaces some characters.
    private static func mutilate(_ text: String, _ generator: inout SeededGenerator) -> String {
        var characters = Array(text.unicodeScalars)
        for _ in 0..<(1 + generator.next() % 4) {
            let place = Int(generator.next() % UInt64(characters.count))
            switch generator.next() % 5 {
            case 0: characters.removeSubrange(place...)
            case 1: characters.insert(characters[place], at: place)
            case 2: characters[place] = Unicode.Scalar(UInt8(generator.next() % 128))
            case 3: characters[place] = "\u{FFFD}"
            default: characters.swapAt(place, 0)
            }
            if characters.isEmpty { characters = ["x"] }
        }
        var mutilated = String.UnicodeScalarView()
        mutilated.append(contentsOf: characters)
        return String(mutilated)
    }
}
