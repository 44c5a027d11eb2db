import Encodings
import StrictJSON

/// The checks of both receivers.
struct MessageChecks: Sendable {
    /// Bytes of a body.
    static let longestBody = 16 * 1024
    /// Bounds of an event and of a token's claims.
    static let limits = JSONLimits(depth: 8, members: 64)

    let webhook: WebhookCheck
    let audience: String
    let keys = PublishedKeys()
}

extension EventFacts {
    /// Reads an event in the form of the feed. Returns `nil` for anything else.
    init?(_ json: JSONValue, uri: String? = nil) {
        guard let id = Self.word(json["id"]), let type = Self.word(json["type"]) else { return nil }
        (self.id, self.type, self.uri) = (id, type, uri)
        user = Self.word(json["account_id"]) ?? Self.word(json["sub"])
        recordedAt = json["recorded_at"]?.string.flatMap { RFC3339.milliseconds(of: $0) }
    }

    static func word(_ value: JSONValue?) -> String? {
        guard let text = value?.string, (1...255).contains(text.utf8.count), !text.hasControlCharacters else {
            return nil
        }
        return text
    }
}
