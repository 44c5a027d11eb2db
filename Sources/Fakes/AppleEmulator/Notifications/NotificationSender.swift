import AsyncHTTPClient
import EmulatorServer
import NIOCore
import NIOHTTP1
import NIOPosix
public import StrictJSON

/// Posts notifications as Apple does: `{"payload":"<JWS>"}`, authenticated only by the signature.
struct NotificationSender: Sendable {
    /// Time limit for the receiver to respond.
    static let timeout = TimeAmount.seconds(10)
    /// Maximum number of response body bytes that are stored.
    static let responseLimit = 16 * 1024

    /// Posts a payload. Does not throw, because the result includes the receiver's failures.
    func deliver(_ payload: String, to target: NotificationTarget) async -> Delivery {
        var request = HTTPClientRequest(url: target.url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .bytes(Self.body(payload))
        do {
            let sent = request
            return try await HTTPClient.withHTTPClient(configuration: Self.configuration) { client in
                let response = try await client.execute(sent, timeout: Self.timeout)
                let body = try await Self.read(response.body)
                return Delivery(
                    url: target.url, outcome: .answered(status: Int(response.status.code), body: body),
                    requestID: response.headers.first(name: "X-Request-ID"))
            }
        } catch {
            return Delivery(url: target.url, outcome: .failed(Self.failure(error)))
        }
    }

    private static func body(_ payload: String) -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: payload.utf8.count + 16)
        writer.beginObject()
        writer.member("payload", payload)
        writer.endObject()
        return writer.bytes
    }

    private static func read(_ body: HTTPClientResponse.Body) async throws -> String {
        var bytes: [UInt8] = []
        for try await part in body {
            bytes.append(contentsOf: part.readableBytesView.prefix(responseLimit - bytes.count))
            if bytes.count >= responseLimit { break }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func failure(_ error: any Error) -> Delivery.Failure {
        switch error {
        case is NIOConnectionError, is IOError: .connectionFailed
        case let error as HTTPClientError where error == .connectTimeout: .connectionFailed
        case let error as HTTPClientError where error == .deadlineExceeded || error == .readTimeout: .timedOut
        default: .responseBroken
        }
    }

    /// The client follows no redirects, because they would bypass the host check. It reports a refused
    /// connection immediately, without retrying.
    private static var configuration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.timeout = .init(connect: .seconds(5))
        configuration.connectionPool.retryConnectionEstablishment = false
        return configuration
    }
}

/// Outcome of posting a notification.
public struct Delivery: Sendable, Equatable {
    public enum Outcome: Sendable, Equatable {
        /// The receiver responded. The body is truncated to 16 KiB.
        case answered(status: Int, body: String)
        case failed(Failure)
    }

    public enum Failure: String, Sendable, CaseIterable {
        case connectionFailed = "connection_failed"
        case timedOut = "timed_out"
        /// The receiver closed the connection, or its response was not HTTP.
        case responseBroken = "answer_broken"
    }

    public let url: String
    public let outcome: Outcome
    /// Value of `X-Request-ID` in the response, even if the response counts as lost.
    var requestID: String?

    /// True for status 200, the only status that Apple accepts.
    public var isTaken: Bool {
        if case .answered(200, _) = outcome { true } else { false }
    }
}

extension Delivery: JSONBody {
    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("url") { $0.url }
        member("status", "The receiver's status.") { $0.status }
        member("body", "The receiver's body.") { $0.body }
        member("failure", .words(Failure.allCases.map(\.rawValue), "The reason why there is no response.")) {
            if case .failed(let failure) = $0.outcome { failure.rawValue } else { nil }
        }
    }

    private var body: String? {
        if case .answered(_, let body) = outcome { body } else { nil }
    }

    /// Response status; `nil` if no response arrived.
    var status: Int? {
        if case .answered(let status, _) = outcome { status } else { nil }
    }

    /// The response with its body, or the failure.
    var shown: String {
        if case .answered(let status, let body) = outcome { "\(status)\n\(body)" } else { text }
    }

    /// The response status, or the failure.
    var text: String {
        switch outcome {
        case .answered(let status, _): String(status)
        case .failed(let failure): failure.rawValue
        }
    }
}

/// A notification, with the outcome of posting it.
struct SentNotification: JSONBody {
    let notification: MintedNotification
    /// Delivery outcome; `nil` if the notification was not posted.
    let delivery: Delivery?
    /// True if the notification is held until it is released.
    var isHeld = false

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("type") { $0.notification.type }
        member("client_id") { $0.notification.clientID }
        member("payload", "The signed notification.") { $0.notification.payload }
        member("held", "Present and true until the notification is released.") { $0.isHeld ? true : nil }
        member("delivery", "Absent if the notification was not posted.") { $0.delivery }
    }

    /// The delivery's outcome; without a delivery, the payload, for callers that post it themselves.
    var text: String { delivery?.text ?? (isHeld ? "held" : notification.payload) }
}

/// A signed notification, ready to be delivered.
public struct MintedNotification: Sendable, Equatable, Codable {
    public let type: String
    public let clientID: String
    /// The user's `sub` for the app's team.
    public let subject: String
    /// The compact JWS, which is sent as the `payload` member.
    public let payload: String
}
