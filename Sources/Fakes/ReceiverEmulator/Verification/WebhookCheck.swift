import Cryptography
import Encodings
import HTTPTypes
import StrictJSON

/// Verifies a webhook as the page on events tells receivers to do.
struct WebhookCheck: Sendable {
    /// Seconds by which the time of a message may differ from the clock.
    static let tolerance: Int64 = 300
    /// More signatures than a rotation has, and few enough to try all.
    static let mostSignatures = 8

    let codes: [HMACSHA256]

    /// - Parameter now: Seconds since 1970.
    func check(_ fields: HTTPFields, _ body: [UInt8], at now: Int64) throws(MessageRefusal) -> EventFacts {
        guard Self.field("webhook-id", fields).map({ (1...255).contains($0.utf8.count) }) ?? false,
            let id = Self.field("webhook-id", fields), let stamp = Self.field("webhook-timestamp", fields),
            let time = Int64(stamp), (0...253_402_300_799).contains(time),
            let signatures = Self.field("webhook-signature", fields)?.split(separator: " ")
        else {
            throw MessageRefusal(
                .fieldMalformed, "webhook-id, webhook-timestamp and webhook-signature must be there once")
        }
        let message = Array("\(id).\(stamp).".utf8) + body
        let isSigned = signatures.prefix(Self.mostSignatures).contains { signature in
            guard signature.hasPrefix("v1,"), let code = Base64.decode(String(signature.dropFirst(3))) else {
                return false
            }
            return codes.contains { $0.isValid(code, for: message) }
        }
        guard isSigned else {
            throw MessageRefusal(.signatureInvalid, "no signature is by a secret of this webhook")
        }
        guard abs(time - now) <= Self.tolerance else {
            throw MessageRefusal(
                .timestampStale, "webhook-timestamp differs from the clock by more than 5 minutes")
        }
        guard let json = try? JSONValue(parsing: body, limits: MessageChecks.limits),
            let event = EventFacts(json)
        else { throw MessageRefusal(.eventMalformed, "the body must be an event as in the feed") }
        guard event.id.isByteEqual(to: id) else {
            throw MessageRefusal(.idMismatch, "webhook-id must be the id of the event")
        }
        return event
    }

    /// Returns `nil` for a field that is absent or repeated.
    private static func field(_ name: String, _ fields: HTTPFields) -> String? {
        guard let name = HTTPField.Name(name) else { return nil }
        let values = fields[values: name]
        return values.count == 1 ? values[0] : nil
    }
}
