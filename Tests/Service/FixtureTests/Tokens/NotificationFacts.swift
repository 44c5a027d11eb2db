import AppleIdentity

/// Expected values of a verified notification. A member that the file does not name must be absent.
struct NotificationFacts: Decodable, Equatable, Sendable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case iat, exp, jti, events
        case clientID = "client_id"
    }

    let clientID: ExactText
    let iat, exp: Int64
    let jti: ExactText?
    let events: [Event]

    struct Event: Decodable, Equatable {
        enum CodingKeys: String, CodingKey, CaseIterable {
            case kind, type, sub, email
            case eventTimeMilliseconds = "event_time_milliseconds"
            case isPrivateEmail = "is_private_email"
        }

        let kind: String
        let type: ExactText
        let sub, email: ExactText?
        let eventTimeMilliseconds: Int64?
        let isPrivateEmail: Bool?
    }

    init(_ notification: VerifiedNotification) {
        clientID = ExactText(notification.clientID)
        iat = notification.issuedAt.secondsSince1970
        exp = notification.expiresAt.secondsSince1970
        jti = ExactText(notification.identifier)
        events = notification.events.map { Event($0) }
    }
}

extension NotificationFacts.Event {
    init(_ event: NotificationEvent) {
        kind =
            switch event.kind {
            case .consentRevoked: "consent-revoked"
            case .accountDeleted: "account-deleted"
            case .emailEnabled: "email-enabled"
            case .emailDisabled: "email-disabled"
            case .unknown: "unknown"
            }
        type = ExactText(event.type)
        sub = ExactText(event.subject)
        email = ExactText(event.email)
        eventTimeMilliseconds = event.eventTimeMilliseconds
        isPrivateEmail = event.isPrivateEmail
    }
}
