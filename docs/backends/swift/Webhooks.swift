import Crypto
import Foundation

/// Verifies webhooks in the form of Standard Webhooks.
struct WebhookVerifier: Sendable {
    /// A message that is not from siwa, or not recent. It repeats nothing from the message.
    struct Refusal: Error, Equatable {
        let status: Int
        let code: String
    }

    struct SecretMalformed: Error, CustomStringConvertible {
        let description = "a secret must be whsec_ and at least 24 bytes in base64"
    }

    /// Bytes in a body. An event from siwa has a few hundred.
    static let longest = 65_536
    /// Seconds by which the clocks may differ. An older message is a replay.
    static let tolerance: TimeInterval = 300

    private let keys: [SymmetricKey]

    /// - Parameter secrets: One secret, or two with a space between them during a rotation.
    init(secrets: String) throws(SecretMalformed) {
        var keys: [SymmetricKey] = []
        for secret in secrets.split(separator: " ") {
            // Anybody can sign with an empty key.
            guard secret.hasPrefix("whsec_"), let key = Data(base64Encoded: String(secret.dropFirst(6))),
                key.count >= 24
            else { throw SecretMalformed() }
            keys.append(SymmetricKey(data: key))
        }
        self.keys = keys
    }

    /// Returns the ID of the message, which is the same for each delivery.
    ///
    /// - Parameters:
    ///   - id: The field `webhook-id`.
    ///   - timestamp: The field `webhook-timestamp`.
    ///   - signature: The field `webhook-signature`.
    ///   - body: The bytes as they arrived.
    func verify(
        id: String?, timestamp: String?, signature: String?, body: Data, at now: Date
    ) throws(Refusal) -> String {
        guard body.count <= Self.longest else { throw Refusal(status: 413, code: "body_too_large") }
        guard let id, id.wholeMatch(of: /[A-Za-z0-9_-]{1,64}/) != nil,
            let timestamp, timestamp.wholeMatch(of: /[0-9]{1,12}/) != nil, let seconds = Int(timestamp),
            let signature, !signature.isEmpty
        else { throw Refusal(status: 400, code: "webhook_headers_invalid") }
        guard abs(now.timeIntervalSince1970 - TimeInterval(seconds)) <= Self.tolerance else {
            throw Refusal(status: 400, code: "webhook_time_invalid")
        }
        let message = Data("\(id).\(timestamp).".utf8) + body
        for text in signature.split(separator: " ") where text.hasPrefix("v1,") {
            guard let code = Data(base64Encoded: String(text.dropFirst(3))) else { continue }
            // Compares in constant time, so that timing reveals nothing about the signature.
            for key in keys
            where HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: message, using: key) {
                return id
            }
        }
        throw Refusal(status: 401, code: "webhook_signature_invalid")
    }
}
