public import AppleAccounts
import Cryptography
import Encodings
import StrictJSON

/// The Standard Webhooks format: the event as in the feed, with one signature for each secret.
public struct WebhookFormat: EventFormat {
    /// Maximum number of secrets. During a rotation two secrets sign each message, so that the receiver can
    /// switch to the new secret at any time.
    public static let mostSecrets = 2

    private let secrets: [WebhookSecret]

    public init(secrets: [WebhookSecret]) {
        self.secrets = secrets
    }

    public func message(for event: AccountEvent, at moment: Moment) -> EventMessage? {
        var json = JSONWriter(reservingCapacity: 512)
        event.write(into: &json)
        // The ID is the same in each attempt, so that the receiver recognizes repeated messages.
        let id = event.id.rawValue
        // The timestamp is the time of the attempt. Receivers refuse old timestamps, so a message cannot be
        // replayed later.
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

/// A webhook secret in the Standard Webhooks format: "whsec_" and 24 to 64 bytes in base64.
/// Descriptions never contain it.
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

    /// Returns a message's signature, in the format of the `webhook-signature` header.
    func signature(id: String, timestamp: Int64, body: [UInt8]) -> String {
        "v1," + Base64.encode(code.code(for: Array("\(id).\(timestamp).".utf8) + body))
    }
}

extension WebhookSecret: CustomStringConvertible, CustomReflectable {
    public var description: String { "secret of a webhook" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
