/// The receivers, one for each way in which the service sends events. The raw value is the receiver's name, and
/// the last part of its URL.
public enum EmulatedReceiver: String, Sendable, CaseIterable {
    /// Webhooks in the form of Standard Webhooks.
    case webhook
    /// Security event tokens by push (RFC 8935).
    case push

    /// Title on the page.
    var title: String {
        switch self {
        case .webhook: "Webhook"
        case .push: "Security event tokens"
        }
    }

    /// The status with which the receiver takes a message (RFC 8935 §2.2).
    var takenStatus: Int {
        switch self {
        case .webhook: 204
        case .push: 202
        }
    }
}
