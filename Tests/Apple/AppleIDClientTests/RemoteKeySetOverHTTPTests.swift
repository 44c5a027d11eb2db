import AppleIDClient
import AsyncHTTPClient
import KeySets
import ScriptedHTTP
import TestSupport
import Testing

/// The key-set cache with the transport, over a real socket.
@Suite(.timeLimit(.hung)) struct RemoteKeySetOverHTTPTests {
    private static let keys = """
        {"keys":[{"kty":"RSA","kid":"A","use":"sig","alg":"RS256","e":"AQAB","n":"\
        \(String(repeating: "vw", count: 170))vQ"}]}
        """

    private static let good =
        "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: \(keys.utf8.count)\r\n\r\n\(keys)"

    private func withKeySet(
        _ server: ScriptedServer, _ body: (RemoteKeySet) async throws -> Void
    ) async throws {
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: .apple())
        let endpoints = try #require(AppleEndpoints(baseURL: server.baseURL))
        let keys = RemoteKeySet(source: HTTPKeySetSource(client: client, endpoints: endpoints))
        let loop = Task { await keys.run() }
        try await eventually { keys.health.status == .ready }
        try await body(keys)
        loop.cancel()
        await loop.value
        try await client.shutdown()
        try await server.close()
    }

    @Test func `fetches once and caches keys`() async throws {
        let server = try await ScriptedServer(always: .send(Self.good))
        try await withKeySet(server) { keys in
            let key = try await keys.key(for: "A")
            #expect(keys.cachedKey(for: "A") === key)
        }
        #expect(server.requests.count == 1)
    }

    @Test func `keeps good keys when the response is a web page`() async throws {
        let server = try await ScriptedServer { number in
            number == 1 ? .send(Self.good) : .send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>")
        }
        try await withKeySet(server) { keys in
            await #expect(throws: KeySetError(.keysUnavailable)) { try await keys.key(for: "B") }
            #expect(keys.cachedKey(for: "A") != nil)
            #expect(keys.health.status == .stale(.html))
        }
        #expect(server.requests.count == 2)
    }

    @Test func `invented keys share one request`() async throws {
        let server = try await ScriptedServer(always: .send(Self.good))
        try await withKeySet(server) { keys in
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<1000 {
                    group.addTask {
                        // Unknown for those whom the fetch served; the others come back after the cooldown.
                        await #expect(throws: KeySetError.self) {
                            try await keys.key(for: "invented-\(number)")
                        }
                    }
                }
            }
        }
        #expect(server.requests.count == 2)
    }
}
