import AppleAccounts
import AsyncHTTPClient
import Cryptography
import Encodings
import EventDelivery
import Foundation
import NIOCore
import NIOHTTP1
import StrictJSON
import Testing
import WebOrigins

@testable import siwa

/// Sends webhooks to a backend as siwa does, and as attackers would.
struct WebhookSender: Sendable {
    /// The secret that siwa signs with in tests, and the secret that the backend has beside it.
    static let (key, otherKey) = ([UInt8](0..<32), [UInt8](100..<132))

    static func secret(_ key: [UInt8]) -> String { "whsec_\(Base64.encode(key))" }

    /// The webhook of the backend in the settings of siwa.
    static func settings(port: Int) throws -> WebhookSettings {
        let url = "http://127.0.0.1:\(port)/siwa"
        return WebhookSettings(
            name: try #require(ReceiverName("backend")), url: try #require(WebAddress(url)), text: url,
            kinds: Set(AccountEvent.Kind.allCases), scope: .all, audience: nil,
            secrets: [try #require(WebhookSecret(secret(key)))], networks: [])
    }

    let port: Int
    var id = "evt_00000000-0000-7000-8000-\(UInt64.random(in: 100_000_000_000...999_999_999_999))"
    var type = "account_disabled"
    var account: String
    var key = Self.key
    /// Seconds from now.
    var age = 0.0
    var leavesOut: String?
    /// Bytes that follow the event.
    var padding = 0

    struct Response: Sendable {
        let status: UInt
        let error: String?
    }

    func send() async throws -> Response {
        let event = JSONObject([
            ("id", .string(id)), ("type", .string(type)), ("team_id", .string("SIWADEV000")),
            ("account_id", .string(account)), ("occurred_at", .string("2026-01-01T00:00:00.000Z")),
            ("recorded_at", .string("2026-01-01T00:00:00.000Z")),
        ])
        let body = JSONValue.object(event).serialized() + [UInt8](repeating: 0x20, count: padding)
        let timestamp = "\(Int(Date().timeIntervalSince1970 - age))"
        let code = HMACSHA256(key: key).code(for: Array("\(id).\(timestamp).".utf8) + body)
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/siwa")
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/json")
        for (name, value) in [
            ("webhook-id", id), ("webhook-timestamp", timestamp),
            ("webhook-signature", "v1,\(Base64.encode(code))"),
        ] where name != leavesOut {
            request.headers.add(name: name, value: value)
        }
        request.body = .bytes(body)
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let content = Array((try await response.body.collect(upTo: 1 << 16)).readableBytesView)
        return Response(
            status: response.status.code, error: (try? JSONValue(parsing: content))?["error"]?.string)
    }

    /// The same message with changes.
    func with(_ change: (inout WebhookSender) -> Void) -> WebhookSender {
        var copy = self
        change(&copy)
        return copy
    }
}
