import Crypto
import Foundation

/// Verifies webhooks in the form of Standard Webhooks.
struct Webhooks {
    /// Bytes of a body. An event has some hundreds.
    static let longestBody = 65_536
    /// Seconds by which the clocks may differ. An older message is a replay.
    static let tolerance: TimeInterval = 300

    private let keys: [SymmetricKey]

    /// - Parameter secrets: One secret, or several secrets with spaces between them during a rotation.
    init(secrets: String) throws(SiwaError) {
        var keys: [SymmetricKey] = []
        for secret in secrets.split(whereSeparator: \.isWhitespace) {
            // Anybody can sign with an empty key. The bounds are those of Standard Webhooks.
            guard secret.hasPrefix("whsec_"), let key = Data(base64Encoded: String(secret.dropFirst(6))),
                (24...64).contains(key.count)
            else {
                throw .misconfigured(
                    "SIWA_WEBHOOK_SECRETS: a secret must be whsec_ and 24 to 64 bytes in base64")
            }
            keys.append(SymmetricKey(data: key))
        }
        self.keys = keys
    }

    /// See ``Siwa/verifyWebhook(headers:body:)``.
    func event(
        headers: some Sequence<(name: String, value: String)>, body: Data, now: Date
    ) throws(SiwaError) -> Event {
        guard !keys.isEmpty else {
            throw .misconfigured("SIWA_WEBHOOK_SECRETS: the client needs a secret")
        }
        guard body.count <= Self.longestBody else {
            throw SiwaError(
                "body_too_large", status: 413, detail: "A webhook has at most \(Self.longestBody) bytes.")
        }
        let fields = Dictionary(headers.map { ($0.name.lowercased(), $0.value) }) { $1 }
        guard let id = fields["webhook-id"], id.wholeMatch(of: /[A-Za-z0-9_\-]{1,64}/) != nil,
            let timestamp = fields["webhook-timestamp"], timestamp.wholeMatch(of: /[0-9]{1,12}/) != nil,
            let seconds = TimeInterval(timestamp), let signatures = fields["webhook-signature"],
            !signatures.isEmpty
        else {
            throw SiwaError(
                "webhook_headers_invalid", status: 400,
                detail: "The headers webhook-id, -timestamp and -signature are needed.")
        }
        guard abs(now.timeIntervalSince1970 - seconds) <= Self.tolerance else {
            throw SiwaError(
                "webhook_time_invalid", status: 400,
                detail: "The message is more than \(Int(Self.tolerance)) s from now: check the clock.")
        }
        let message = Data("\(id).\(timestamp).".utf8) + body
        // Once for all signatures, because anybody can send thousands of them with the longest body.
        let expected = keys.map { HMAC<SHA256>.authenticationCode(for: message, using: $0) }
        let isSigned = signatures.split(separator: " ").contains { signature in
            guard signature.hasPrefix("v1,"), let code = Data(base64Encoded: String(signature.dropFirst(3)))
            else { return false }
            // In constant time, so that the time of a refusal reveals nothing about the signature.
            return expected.contains { $0 == code }
        }
        guard isSigned else {
            throw SiwaError(
                "webhook_signature_invalid", status: 401,
                detail: "No signature is by a secret of this receiver.")
        }
        do {
            return try JSONDecoder.siwa.decode(Event.self, from: body)
        } catch {
            throw SiwaError("event_malformed", status: 400, detail: "The body is not an event.")
        }
    }
}
