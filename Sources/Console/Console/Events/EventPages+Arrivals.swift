import AppleAccounts
import AuthorizationServer
import Encodings
import HTTPAPI

// What came from Apple and from Google.
extension EventPages {
    struct Arrived: Sendable {
        let received: String
        let result: String
        let style: String
        let app: String?
        let types: String
        let requestID: String?
        let identifier: String?
        let hasClaims: Bool
        let claims: [MaskedClaims.Member]
        /// The signed token as it came, and its decoded parts. Only in `siwa dev`.
        var raw: RawToken?
    }

    private struct AppleValues: Sendable {
        let navigation: Tabs
        let hasKept: Bool
        let kept: [Arrived]
        let older: Int64?
        let showsRefused: Bool
        let hasRefused: Bool
        let refused: [Arrived]
        let most = ArrivalLog.most
    }

    private struct GoogleValues: Sendable {
        let navigation: Tabs
        let reports: DeliveryLine?
        let hasKept: Bool
        let kept: [Arrived]
        let older: String?
        let hasRefused: Bool
        let refused: [Arrived]
        let most = ArrivalLog.most
    }

    func apple(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        let scope = request.viewer.scope
        let page = try await dependencies.store.notifications(
            before: request.query["before"].flatMap { Int64($0) }, limit: Self.pageSize, visibleTo: scope)
        // The app of what was refused is not verified, so it belongs to none.
        let refused = scope == .all ? dependencies.arrivals.arrivals(from: .apple) : []
        let values = AppleValues(
            navigation: tabs("/events/apple", request), hasKept: !page.notifications.isEmpty,
            kept: page.notifications.map {
                Self.arrived($0, at: request.now, isRaw: request.viewer.isDevelopment)
            }, older: page.next,
            showsRefused: scope == .all, hasRefused: !refused.isEmpty,
            refused: refused.map {
                Self.arrived($0, at: request.now, isShown: request.viewer.isDevelopment)
            })
        return .template("events-apple", title: "From Apple", values: values)
    }

    func google(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        let before = request.query["before"].flatMap { GoogleEventPosition(text: $0) }
        let events = try await dependencies.store.googleEvents(before: before, limit: Self.pageSize)
        let refused = dependencies.arrivals.arrivals(from: .google)
        let reports = try await lines(at: request.now).first { $0.name == ReceiverName.google.rawValue }
        let values = GoogleValues(
            navigation: tabs("/events/google", request), reports: reports, hasKept: !events.isEmpty,
            kept: events.map {
                Self.arrived($0, at: request.now, isRaw: request.viewer.isDevelopment)
            },
            older: events.count == Self.pageSize ? events.last?.position.text : nil,
            hasRefused: !refused.isEmpty,
            refused: refused.map {
                Self.arrived($0, at: request.now, isShown: request.viewer.isDevelopment)
            })
        return .template("events-google", title: "Google", values: values)
    }

    private static func arrived(
        _ notification: ReceivedNotification, at now: Moment, isRaw: Bool
    ) -> Arrived {
        let isErased = notification.payload == KeptNotification.erasedPayload
        let claims = MaskedClaims(token: notification.payload, isShown: isRaw)
        let (result, style) =
            switch notification.receipt {
            case .applied: ("applied", "good")
            case .unchanged: ("accepted, changed nothing", "muted")
            case .duplicate: ("duplicate", "muted")
            case .unknownType: ("accepted, type unknown here", "warn")
            }
        return Arrived(
            received: EventTime.text(notification.receivedAt, now), result: result, style: style,
            app: notification.clientID.rawValue,
            types: isErased ? "erased" : claims.types.joined(separator: ", "), requestID: nil,
            identifier: notification.identifier.rawValue, hasClaims: !claims.members.isEmpty,
            claims: claims.members, raw: isRaw ? RawToken(notification.payload) : nil)
    }

    private static func arrived(_ event: ReceivedGoogleEvent, at now: Moment, isRaw: Bool) -> Arrived {
        let token = String(decoding: event.payload, as: UTF8.self)
        let claims = MaskedClaims(token: token, isShown: isRaw)
        return Arrived(
            received: EventTime.text(event.receivedAt, now), result: "accepted", style: "good", app: nil,
            types: event.payload.isEmpty ? "erased" : claims.types.joined(separator: ", "), requestID: nil,
            identifier: event.jti, hasClaims: !claims.members.isEmpty, claims: claims.members,
            raw: isRaw ? RawToken(token) : nil)
    }

    private static func arrived(
        _ arrival: ArrivalLog.Arrival, at now: Moment, isShown: Bool
    ) -> Arrived {
        let claims = MaskedClaims(claims: arrival.claims, isShown: isShown)
        return Arrived(
            received: EventTime.text(arrival.receivedAt, now), result: arrival.code,
            style: arrival.isRefused ? "bad" : "muted", app: nil,
            types: claims.types.joined(separator: ", "), requestID: arrival.requestID, identifier: nil,
            hasClaims: !claims.members.isEmpty, claims: claims.members)
    }
}

extension GoogleEventPosition {
    /// The form in addresses of pages: the moment in milliseconds, and the identity in base64url.
    fileprivate var text: String { "\(receivedAt.milliseconds).\(Base64URL.encode(Array(jti.utf8)))" }

    /// Reads the form of `text`.
    fileprivate init?(text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let milliseconds = Int64(parts[0]),
            // PostgreSQL refuses a text with a zero.
            let bytes = Base64URL.decode(String(parts[1])), !bytes.contains(0),
            let jti = String(validating: bytes, as: UTF8.self)
        else { return nil }
        self.init(receivedAt: Moment(milliseconds: milliseconds), jti: jti)
    }
}
