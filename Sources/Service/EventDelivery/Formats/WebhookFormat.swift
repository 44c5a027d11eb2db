public import AppleAccounts
import Cryptography
import Encodings
import StrictJSON

/// The form of Standard Webhooks: the event as the feed shows it, with a signature by each secret.
public struct WebhookFormat: EventFormat {
    /// During a rotation both secrets sign, so that the receiver can change from one to the other at any
    /// time.
    public static let mostSecrets = 2

    private let secrets: [WebhookSecret]

    public init(secrets: [WebhookSecret]) {
        self.secrets = secrets
    }

    public func message(for event: AccountEvent, at moment: Moment) -> EventMessage? {
        var json = JSONWriter(reservingCapacity: 512)
        event.write(into: &json)
        // The same in each attempt, so that the receiver recognizes a repetition.
        let id = event.id.rawValue
        // The time of the attempt: receivers refuse old times, so that a message cannot be replayed.
        let timestamp = moment.milliseconds / 1000
        let body = json.bytes
        let signatures = secrets.map { $0.signature(id: id, timestamp: timestamp, body: body) }
        return EventMessage(
            fields: [
                "content-type": "application/json", "webhook-id": id, "webhook-timestamp": "\(timestamp)",
                "webhook-signature": signatures.joined(separator: " "),
            ], body: body)
    }
}

/// The secret of a webhook in the form of Standard Webhooks: "whsec_" and 24 to 64 bytes in base64. It appears
/// in no description.
public struct WebhookSecret: Sendable {
    public static let prefix = "whsec_"
    static let sizes = 24...64

    private let code: HMACSHA256

    public init?(_ text: String) {
        guard text.hasPrefix(Self.prefix), let key = Base64.decode(String(text.dropFirst(Self.prefix.count))),
            Self.sizes.contains(key.count)
        else { return nil }
        code = HMACSHA256(key: key)
    }

    /// The signature of a message, as in the field `webhook-signature`.
    func signature(id: String, timestamp: Int64, body: [UInt8]) -> String {
        "v1," + Base64.encode(code.code(for: Array("\(id).\(timestamp).".utf8) + body))
    }
}

extension WebhookSecret: CustomStringConvertible, CustomReflectable {
    public var description: String { "secret of a webhook" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
