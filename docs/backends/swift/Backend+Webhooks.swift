import Foundation
import Hummingbird
import NIOCore

extension Backend {
    /// siwa sends an event again for seven days.
    private static let timeOfHandled: TimeInterval = 8 * 86_400

    /// Handles the event of a webhook. siwa gets 2xx when everything is stored, and sends the event again otherwise.
    func takeWebhook(_ request: Request, by verifier: WebhookVerifier) async throws -> Done {
        let id: String
        let content: Data
        do {
            guard let body = try? await request.body.collect(upTo: WebhookVerifier.longest) else {
                throw WebhookVerifier.Refusal(status: 413, code: "body_too_large")
            }
            content = Data(body.readableBytesView)
            id = try verifier.verify(
                id: request.webhookField("id"), timestamp: request.webhookField("timestamp"),
                signature: request.webhookField("signature"), body: content, at: Date())
        } catch let refusal as WebhookVerifier.Refusal {
            throw Refused(.init(code: refusal.status), refusal.code)
        }
        // The states that beginFeed is reading can be older than the event.
        guard feedHasBegun else { throw Refused(.serviceUnavailable, "try_again") }
        // An event that comes again is not handled again: later events may have come in between.
        guard handled[id] == nil else { return Done() }
        try await handle(JSONDecoder().decode(Event.self, from: content))
        let now = Date()
        handled[id] = now
        if now > cleaning + 3600 {
            handled = handled.filter { $0.value > now - Self.timeOfHandled }
            cleaning = now
        }
        return Done()
    }
}

extension Request {
    fileprivate func webhookField(_ name: String) -> String? {
        headers.first { $0.name.canonicalName == "webhook-\(name)" }?.value
    }
}
