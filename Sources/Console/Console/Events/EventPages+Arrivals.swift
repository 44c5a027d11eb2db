import AppleAccounts
import AuthorizationServer
import Encodings
import HTTPAPI
import Inspection
import Pages
import StrictJSON

// Apple's notifications and Google's security events.
extension EventPages {
    func apple(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        let (scope, isDevelopment) = (request.viewer.scope, request.viewer.isDevelopment)
        let (place, before) = request.place { Int64($0) }
        let kept = try await store.notifications(before: before, limit: Self.pageSize, visibleTo: scope)
        return page("From Apple", at: "/console/events/apple", request) {
            Card("Notifications of Apple's") {
                Table(
                    "Notifications of Apple's",
                    ["Received", "Result", .any("Types"), .any("App"), .any("Claims")],
                    kept.notifications, ifEmpty: "None was accepted here yet.",
                    pager: Pager(
                        place, rows: kept.notifications.count, next: kept.next.map { "\($0)" },
                        at: "/console/events/apple")
                ) { notification in
                    let claims = MaskedClaims(token: notification.payload, isShown: isDevelopment)
                    let isErased = notification.payload == KeptNotification.erasedPayload
                    let identifier = notification.identifier.rawValue
                    return [
                        .text(EventTime.text(notification.receivedAt, request.now)),
                        notification.receipt.words, isErased ? "erased" : .text(claims.types),
                        .code(notification.clientID.rawValue),
                        claims.details(identifier) ?? .text(identifier),
                    ]
                }
            }
            // A refused notification does not prove which app it concerns, so only operators with access to
            // all apps see it.
            if scope == .all { refused(from: .apple, request) }
        }
    }

    func google(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        let (place, before) = request.place { GoogleEventPosition(text: $0) }
        let events = try await store.googleEvents(before: before, limit: Self.pageSize)
        let older = events.count == Self.pageSize ? events.last?.position.text : nil
        let reports = try await deliveries(at: request.now).first { $0.name == .google }
        return page("Google", at: "/console/events/google", request) {
            Card("Reports to Google") {
                if let reports {
                    Facts([Fact("State", reports.state)] + reports.progress + [reports.lastError()])
                    "<p><a href=\"/console/events/deliveries\">Resume, replay</a></p>"
                } else {
                    """
                    <p class="empty">Google is told of ended tokens once a client of Google is configured.</p>
                    """
                }
            }
            Card("Security events of Google's") {
                "<p class=\"muted\">Kept for 30 days.</p>"
                Table(
                    "Security events of Google's",
                    ["Received", "Result", .any("Types"), .any("Claims")], events,
                    ifEmpty: """
                        None was accepted here yet. <code>siwa google risc register</code> registers this \
                        service.
                        """,
                    pager: Pager(place, rows: events.count, next: older, at: "/console/events/google")
                ) { event in
                    let claims = MaskedClaims(
                        token: String(decoding: event.payload, as: UTF8.self),
                        isShown: request.viewer.isDevelopment)
                    return [
                        .text(EventTime.text(event.receivedAt, request.now)),
                        .span("good", "accepted"), event.payload.isEmpty ? "erased" : .text(claims.types),
                        claims.details(event.jti) ?? .text(event.jti),
                    ]
                }
            }
            refused(from: .google, request)
        }
    }

    private func refused(from sender: ArrivalLog.Sender, _ request: ConsoleRequest) -> Card {
        let arrivals = arrivals.arrivals(from: sender)
        return Card("Refused and repeated") {
            """
            <p class="muted">The last \(ArrivalLog.most) of this process, in memory. What was refused is not \
            verified: anyone can send it.</p>
            """
            Table(
                "Refused and repeated", ["Received", "Code", .any("Types"), .any("Request"), .any("Claims")],
                arrivals, ifEmpty: "None since the start."
            ) { arrival in
                let claims = MaskedClaims(claims: arrival.claims, isShown: request.viewer.isDevelopment)
                return [
                    .text(EventTime.text(arrival.receivedAt, request.now)),
                    .span(arrival.isRefused ? "bad" : "muted", .text(arrival.code)), .text(claims.types),
                    .code(arrival.requestID), claims.details("Claims") ?? .muted("none"),
                ]
            }
        }
    }
}

extension NotificationReceipt {
    fileprivate var words: HTML {
        switch self {
        case .applied: .span("good", "applied")
        case .unchanged: .span("muted", "accepted, changed nothing")
        case .duplicate: .span("muted", "duplicate")
        case .unknownType: .span("warn", "accepted, type unknown here")
        }
    }
}

extension GoogleEventPosition {
    /// The position as text for page URLs: the time in milliseconds, and the `jti` in base64url.
    fileprivate var text: String { "\(receivedAt.milliseconds).\(Base64URL.encode(Array(jti.utf8)))" }

    /// Reads a position from its text.
    fileprivate init?(text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let milliseconds = Int64(parts[0]),
            // PostgreSQL refuses text with a zero byte, so no stored `jti` contains one.
            let bytes = Base64URL.decode(String(parts[1])), !bytes.contains(0),
            let jti = String(validating: bytes, as: UTF8.self)
        else { return nil }
        self.init(receivedAt: Moment(milliseconds: milliseconds), jti: jti)
    }
}

/// Shows the claims of a token from Apple or Google, with names and addresses masked except in `siwa dev`.
private struct MaskedClaims {
    private let members: [Fact]
    /// Event types in the token; empty if they cannot be read.
    let types: String
    /// The signed token as received. Shown only in `siwa dev`, because it is unmasked and can be sent again.
    private var raw = HTML()

    /// - Parameters:
    ///   - token: The token in compact form. Any other text has no claims.
    ///   - isShown: True in `siwa dev`, where all people are fictitious.
    init(token: String, isShown: Bool) {
        let segments = token.split(separator: ".", omittingEmptySubsequences: false)
        let payload = segments.count == 3 ? Base64URL.decode(String(segments[1])) : nil
        self.init(claims: payload ?? [], isShown: isShown)
        guard isShown, let payload, let header = Base64URL.decode(String(segments[0])) else { return }
        // Shows the original bytes, because serializing the claims again could change them.
        let content = [header, payload].map { String(decoding: $0, as: UTF8.self) }
        raw = HTML {
            "<p class=\"muted\">As it came. Only siwa dev shows this.</p>"
            CodeBlock("Header and claims", content.joined(separator: "\n"))
            CodeBlock("Signed token", token)
        }
    }

    /// - Parameter bytes: A JSON object.
    init(claims bytes: [UInt8], isShown: Bool) {
        let claims = (try? JSONValue(parsing: bytes))?.object ?? JSONObject()
        members = claims.members.map { name, value in
            let masked = isShown ? value : PersonMask.masked(value, of: name)
            let text = masked.string ?? String(decoding: masked.serialized(), as: UTF8.self)
            return Fact(.code(TokenContent.shown(name)), .text(TokenContent.shown(text)))
        }
        types = Self.types(claims["events"]).prefix(16).map(TokenContent.shown).joined(separator: ", ")
    }

    /// Returns `nil` if there are no claims.
    func details(_ summary: String) -> HTML? {
        members.isEmpty
            ? nil
            : Details(.text(summary)) {
                Facts(members)
                raw
            }.html
    }

    /// Returns the event types. Apple's `events` claim is an object with a type, or an array of such objects,
    /// and can be encoded as a string. Google's claim is an object whose member names are URIs.
    private static func types(_ events: JSONValue?) -> [String] {
        guard let events else { return [] }
        let inner = events.string.map { try? JSONValue(parsing: Array($0.utf8)) } ?? events
        guard let inner else { return [] }
        if inner.array != nil || events.string != nil || inner["type"]?.string != nil {
            return (inner.array ?? [inner]).compactMap { $0["type"]?.string }
        }
        return (inner.object?.members ?? []).map { name, _ in
            name.split(separator: "/").last.map { String($0) } ?? name
        }
    }
}
