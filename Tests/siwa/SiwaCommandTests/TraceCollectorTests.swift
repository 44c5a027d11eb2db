import AsyncHTTPClient
import Foundation
import NIOCore
import ScriptedHTTP
import TestSupport
import Testing
import TraceExport

@testable import Composition

/// The way of spans to a collector, over a real socket.
@Suite struct TraceCollectorTests {
    private static func settings(_ url: String) -> TraceSettings {
        TraceSettings(
            url: "\(url)/v1/traces", headers: ["x-api-key": "secret-of-the-collector"], ratio: 1,
            service: "test")
    }

    private static func post(
        _ url: String, within limit: Duration = .seconds(20), _ document: [UInt8] = Array("{}".utf8)
    ) async throws {
        let collector = HTTPTraceCollector(settings(url))
        do {
            try await collector.post(document, within: limit)
        } catch {
            try? await collector.client.shutdown()
            throw error
        }
        try? await collector.client.shutdown()
    }

    private static func posting(
        to response: ScriptedServer.Response, within limit: Duration = .seconds(20)
    ) async throws -> [String] {
        let server = try await ScriptedServer(always: response)
        try await post(server.baseURL, within: limit)
        let requests = server.requests
        try await server.close()
        return requests
    }

    @Test func `a document is posted as JSON, with the configured fields`() async throws {
        let requests = try await Self.posting(to: .json(#"{"partialSuccess":{}}"#))
        let request = try #require(requests.first)
        #expect(request.hasPrefix("POST /v1/traces HTTP/1.1\r\n"))
        #expect(request.lowercased().contains("content-type: application/json\r\n"))
        #expect(request.contains("x-api-key: secret-of-the-collector\r\n"))
        #expect(request.hasSuffix("\r\n\r\n{}"))
    }

    @Test(arguments: [
        ScriptedServer.Response.sendForever(
            "HTTP/1.1 200 OK\r\nContent-Length: 9999999999\r\n\r\n",
            chunk: String(repeating: "x", count: 65_536), pause: .milliseconds(1)),
        .sendForever(
            "HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\n", chunk: "1\r\nx\r\n",
            pause: .milliseconds(50)),
        .sendAndClose("HTTP/1.1 200 OK\r\n\r\n<html>"),
    ])
    func `the body of a response is not read`(response: ScriptedServer.Response) async throws {
        #expect(try await Self.posting(to: response).count == 1)
    }

    @Test(arguments: [400, 401, 404, 429, 500, 503])
    func `a refusal is an error with its status`(status: Int) async throws {
        let error = try await #require(throws: TraceExportError.self) {
            _ = try await Self.posting(to: .json("{}", status: status))
        }
        #expect(error == TraceExportError(.refused, status: status))
    }

    @Test func `a redirect is refused, so that the key goes nowhere else`() async throws {
        let error = try await #require(throws: TraceExportError.self) {
            _ = try await Self.posting(
                to: .send("HTTP/1.1 307 X\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"))
        }
        #expect(error == TraceExportError(.refused, status: 307))
    }

    @Test func `a collector that does not respond ends the call at its limit`() async throws {
        let error = try await #require(throws: TraceExportError.self) {
            _ = try await Self.posting(to: .nothing, within: .milliseconds(300))
        }
        #expect(error.code == .timedOut)
    }

    @Test(arguments: [
        ScriptedServer.Response.reset, .sendAndClose("garbage"), .sendAndClose("HTTP/9.9 abc\r\n\r\n"),
    ])
    func `a broken response is an error`(response: ScriptedServer.Response) async throws {
        let error = try await #require(throws: TraceExportError.self) {
            _ = try await Self.posting(to: response)
        }
        #expect(error.code == .unreachable)
    }

    @Test func `a collector that is away is an error`() async throws {
        let closed = try ClosedPort()
        let error = try await #require(throws: TraceExportError.self) {
            try await Self.post("http://127.0.0.1:\(closed.port)")
        }
        #expect(error.code == .unreachable || error.code == .timedOut)
    }

    @Test(arguments: [
        ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
        ("https://collector.example/", "https://collector.example/v1/traces"),
        ("https://collector.example/otlp/v1/traces", "https://collector.example/otlp/v1/traces"),
        ("https://collector.example/otlp", "https://collector.example/otlp/v1/traces"),
    ])
    func `the path of traces is added`(url: String, expected: String) async throws {
        var environment = SettingsReaderTests.minimal
        environment["SIWA_TRACES_URL"] = url
        environment["SIWA_TRACES_HEADERS"] = "x-api-key=a=b, authorization=Bearer x"
        environment["SIWA_TRACES_RATIO"] = "0.25"
        let settings = try await SettingsReader.read(environment: environment)
        #expect(
            settings.traces
                == TraceSettings(
                    url: expected, headers: ["x-api-key": "a=b", "authorization": "Bearer x"], ratio: 0.25,
                    service: "siwa"))
    }

    @Test(arguments: [
        ("SIWA_TRACES_URL", "collector:4318"), ("SIWA_TRACES_URL", "ftp://collector"),
        ("SIWA_TRACES_URL", "http://user:pw@collector"), ("SIWA_TRACES_URL", "http://collector?x=1"),
        ("SIWA_TRACES_URL", "http://collector:4317"), ("SIWA_TRACES_RATIO", "1.01"),
        ("SIWA_TRACES_RATIO", "-0.1"), ("SIWA_TRACES_RATIO", "nan"), ("SIWA_TRACES_RATIO", "1e-2"),
        ("SIWA_TRACES_RATIO", "0x1p-3"), ("SIWA_TRACES_RATIO", "1%"), ("SIWA_TRACES_HEADERS", "no-value"),
        ("SIWA_TRACES_HEADERS", "a b=c"), ("SIWA_TRACES_HEADERS", "a=b\r\nx: y"),
        ("SIWA_TRACES_SERVICE", "two words"), ("SIWA_LOG_FORMAT", "xml"), ("SIWA_LOG_ONE_OF", "0"),
    ])
    func `other values are mistakes`(name: String, value: String) async throws {
        var environment = SettingsReaderTests.minimal
        environment[name] = value
        let mistakes = try await #require(throws: ConfigurationMistakes.self) {
            _ = try await SettingsReader.read(environment: environment)
        }
        #expect(mistakes.description.contains(name))
        #expect(!mistakes.description.contains("b\r\nx"))
    }
}
