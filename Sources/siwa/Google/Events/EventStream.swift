import AppleAccounts
import AuthorizationServer
import Encodings
import StrictJSON

/// The stream of security events that Google sends to this service, as Google has registered it.
struct EventStream: Sendable, Equatable {
    /// Address that gets the events.
    let url: String
    /// URIs of the requested events.
    let events: [String]

    /// The events that siwa handles, and the test event.
    static let wantedKinds: [GoogleEventKind] = [
        .sessionsRevoked, .tokensRevoked, .tokenRevoked, .accountDisabled, .accountEnabled,
        .credentialChangeRequired, .verification,
    ]
    static let wantedEvents = wantedKinds.compactMap(\.uri)

    /// `delivery_method` of the events: Google posts them (RFC 8935).
    static let delivery = "https://schemas.openid.net/secevent/risc/delivery-method/push"

    init(url: String, events: [String]) {
        (self.url, self.events) = (url, events)
    }

    /// `nil` when the response has no address.
    init?(_ json: JSONValue) {
        guard let url = json["delivery"]?["url"]?.string, url.utf8.count <= 2048 else { return nil }
        self.url = url
        let list = json["events_requested"] ?? json["events_delivered"]
        events = list?.array?.compactMap(\.string) ?? []
    }

    /// The body of `stream:update`.
    var json: JSONObject {
        JSONObject([
            (
                "delivery",
                .object(JSONObject([("delivery_method", .string(Self.delivery)), ("url", .string(url))]))
            ),
            ("events_requested", .array(events.map { .string($0) })),
        ])
    }

    /// The kinds that siwa handles and that are not requested. Google sends a verification in any case.
    var missingKinds: [GoogleEventKind] {
        Self.wantedKinds.filter { kind in
            kind != .verification && !(kind.uri.map { events.contains($0) } ?? true)
        }
    }

    enum Status: Equatable, Sendable {
        case enabled
        case disabled
        /// A word that this version does not know.
        case other(String)

        init(_ word: String) {
            switch word {
            case "enabled": self = .enabled
            case "disabled": self = .disabled
            default: self = .other(word)
            }
        }

        var word: String {
            switch self {
            case .enabled: "enabled"
            case .disabled: "disabled"
            case .other(let word): word.forTerminal(limit: 40)
            }
        }
    }
}
