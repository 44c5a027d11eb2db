public import AppleAccounts
import SecurityEvents
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
        json.value(event)
        // The same in each attempt, so that the receiver recognizes a repetition.
        let id = event.id.rawValue
        // The time of the attempt: receivers refuse old ones, so that a message cannot be replayed.
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
