import AppleAccounts
import Encodings
import StrictJSON

/// Google's registration of the receiver, compared with this configuration.
struct EventRegistration: Sendable, Equatable {
    let account: String
    /// The receiver of this service.
    let expectedURL: String
    /// `nil` when nothing is registered.
    let stream: EventStream?
    /// `nil` when nothing is registered.
    let status: EventStream.Status?

    /// Asks Google. Throws `EventStreamError`.
    init(of client: EventStreamClient, expectedURL: String) async throws(EventStreamError) {
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
    enum Fault: Equatable {
        case notRegistered
        case otherURL(String)
        case notEnabled(EventStream.Status)
        case eventsMissing([GoogleEventKind])
    }

    /// The first difference; `nil` when the events arrive as they should.
    var fault: Fault? {
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
    var rows: [(name: String, value: String)] {
        let kinds = (stream?.events ?? []).map { String($0.split(separator: "/").last ?? "") }
        return [
            ("service account", account), ("receiver", stream?.url.forTerminal() ?? "none"),
            ("status", status?.word ?? "not registered"),
            ("events", kinds.isEmpty ? "none" : kinds.joined(separator: ", ").forTerminal(limit: 400)),
            ("result", faultText ?? "as this configuration wants it"),
        ]
    }

    var json: JSONObject {
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
