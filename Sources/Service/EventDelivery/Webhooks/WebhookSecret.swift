import Cryptography
import Encodings

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
