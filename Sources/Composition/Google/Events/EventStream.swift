package import AppleAccounts
import AuthorizationServer
import Encodings
package import StrictJSON

/// The security event stream that Google sends to this service, as registered at Google.
package struct EventStream: Sendable, Equatable {
    /// The URL that receives the events.
    let url: String
    /// The URIs of the requested events.
    let events: [String]

    /// The event kinds that siwa handles, and the test event.
    static let wantedKinds: [GoogleEventKind] = [
        .sessionsRevoked, .tokensRevoked, .tokenRevoked, .accountDisabled, .accountEnabled,
        .credentialChangeRequired, .verification,
    ]
    package static let wantedEvents = wantedKinds.compactMap(\.uri)

    /// The `delivery_method` for events that Google posts (RFC 8935).
    static let delivery = "https://schemas.openid.net/secevent/risc/delivery-method/push"

    package init(url: String, events: [String]) {
        (self.url, self.events) = (url, events)
    }

    /// Returns `nil` if the response contains no URL.
    init?(_ json: JSONValue) {
        guard let url = json["delivery"]?["url"]?.string, url.utf8.count <= 2048 else { return nil }
        self.url = url
        let list = json["events_requested"] ?? json["events_delivered"]
        events = list?.array?.compactMap(\.string) ?? []
    }

    /// The request body for `stream:update`.
    var json: JSONObject {
        JSONObject([
            (
                "delivery",
                .object(JSONObject([("delivery_method", .string(Self.delivery)), ("url", .string(url))]))
            ),
            ("events_requested", .array(events.map { .string($0) })),
        ])
    }

    /// The event kinds that siwa handles but the stream does not request. Google always sends verification
    /// events.
    var missingKinds: [GoogleEventKind] {
        Self.wantedKinds.filter { kind in
            kind != .verification && !(kind.uri.map { events.contains($0) } ?? true)
        }
    }

    package enum Status: Equatable, Sendable {
        case enabled
        case disabled
        /// A status that this version does not know.
        case other(String)

        init(_ word: String) {
            switch word {
            case "enabled": self = .enabled
            case "disabled": self = .disabled
            default: self = .other(word)
            }
        }

        package var word: String {
            switch self {
            case .enabled: "enabled"
            case .disabled: "disabled"
            case .other(let word): word.forTerminal(limit: 40)
            }
        }
    }
}

/// The receiver's registration at Google, compared with this configuration.
package struct EventRegistration: Sendable, Equatable {
    let account: String
    /// The URL of this service's receiver.
    let expectedURL: String
    /// The registered stream; `nil` if there is none.
    let stream: EventStream?
    /// The registered stream's status; `nil` if there is none.
    let status: EventStream.Status?

    /// Reads the registration from Google. Throws `EventStreamError` if a request fails.
    package init(of client: EventStreamClient, expectedURL: String) async throws(EventStreamError) {
        account = client.key.email
        self.expectedURL = expectedURL
        stream = try await client.stream()
        status = try await stream == nil ? nil : client.status()
    }

    init(account: String, expectedURL: String, stream: EventStream?, status: EventStream.Status?) {
        self.account = account
        self.expectedURL = expectedURL
        self.stream = stream
        self.status = status
    }

    /// A difference between the registration and this configuration.
    package enum Fault: Equatable {
        case notRegistered
        case otherURL(String)
        case notEnabled(EventStream.Status)
        case eventsMissing([GoogleEventKind])
    }

    /// The first difference from the configuration; `nil` if the registration is correct.
    package var fault: Fault? {
        guard let stream, let status else { return .notRegistered }
        if stream.url != expectedURL { return .otherURL(stream.url) }
        if status != .enabled { return .notEnabled(status) }
        return stream.missingKinds.isEmpty ? nil : .eventsMissing(stream.missingKinds)
    }

    var faultText: String? {
        switch fault {
        case nil: nil
        case .notRegistered: "nothing is registered at Google"
        case .otherURL(let url): "Google sends them to \(url.forTerminal(limit: 200)), not to \(expectedURL)"
        case .notEnabled(let status): "the stream is \(status.word), so Google sends no events"
        case .eventsMissing(let kinds):
            "\(kinds.map(\.rawValue).joined(separator: ", ")) are not requested from Google"
        }
    }

    /// The rows of the table that `siwa google risc` prints.
    package var rows: [(name: String, value: String)] {
        let kinds = (stream?.events ?? []).map { String($0.split(separator: "/").last ?? "") }
        return [
            ("service account", account), ("receiver", stream?.url.forTerminal() ?? "none"),
            ("status", status?.word ?? "not registered"),
            ("events", kinds.isEmpty ? "none" : kinds.joined(separator: ", ").forTerminal(limit: 400)),
            ("result", faultText ?? "as this configuration wants it"),
        ]
    }

    package var json: JSONObject {
        var json = JSONObject([
            ("service_account", .string(account)), ("registered", .bool(stream != nil)),
            ("expected_url", .string(expectedURL)), ("as_configured", .bool(fault == nil)),
        ])
        json["url"] = stream.map { .string($0.url) }
        json["status"] = status.map { .string($0.word) }
        json["events_requested"] = stream.map { .array($0.events.map { .string($0) }) }
        json["fault"] = faultText.map { .string($0) }
        return json
    }
}
