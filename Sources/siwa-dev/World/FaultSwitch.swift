import AppleEmulator
import Composition
import Console
import GoogleEmulator
import ReceiverEmulator

/// The faults that are set in all fakes.
struct FaultSettings {
    let apple: [EmulatedEndpoint: EndpointFault]
    let google: [FaultPlace: GoogleFault]
    let receivers: [EmulatedReceiver: ReceiverFault]
}

/// A fault that the console switches, with its place and its values.
struct FaultSwitch: Sendable {
    enum Place: Sendable {
        case apple(EmulatedEndpoint, EndpointFault)
        case google(FaultPlace, GoogleFault)
        case receiver(EmulatedReceiver, ReceiverFault)
    }

    enum Group: Sendable {
        case apple, google, receivers
    }

    /// The same in every version, because forms and bookmarks name it.
    let name: String
    let title: String
    let place: Place

    var group: Group {
        switch place {
        case .apple: .apple
        case .google: .google
        case .receiver: .receivers
        }
    }

    /// The party whose keys cannot be fetched. A service with keys in its cache does not notice.
    var withheldKeysOf: WorldExchange.Party? {
        switch place {
        case .apple(let endpoint, _): endpoint == .keys ? .apple : nil
        case .google(let place, _): place == .certs ? .google : nil
        case .receiver: nil
        }
    }

    func isOn(in settings: FaultSettings) -> Bool {
        switch place {
        case .apple(let endpoint, let fault): settings.apple[endpoint] == fault
        case .google(let place, let fault): settings.google[place] == fault
        case .receiver(let receiver, let fault): settings.receivers[receiver] == fault
        }
    }

    static let all = ofApple + ofGoogle + ofReceivers

    private static let ofApple = [
        apple("apple_keys_unreachable", "Apple's keys cannot be fetched (503)", .keys) { $0.status = 503 },
        apple("apple_keys_replaced", "Apple's key set is empty", .keys) { $0.body = .noKeys },
        apple("apple_token_unavailable", "Apple's token endpoint answers 503", .token) { $0.status = 503 },
        apple("apple_token_slow", "Apple's token endpoint answers after 5 s", .token) {
            $0.delayMilliseconds = 5000
        },
        apple("apple_token_lost", "Apple does the work, and its answer is lost", .token) {
            $0.cut = .beforeResponse
        },
        apple("apple_token_html", "Apple's token endpoint answers with a page", .token) { $0.body = .html },
        apple("apple_revoke_unavailable", "Apple cannot revoke tokens (503)", .revoke) { $0.status = 503 },
        apple("apple_notifications_lost", "Apple's notifications do not arrive", .notifications) {
            $0.cut = .beforeWork
        },
        apple("apple_notifications_twice", "siwa's answers to notifications are lost", .notifications) {
            $0.cut = .beforeResponse
        },
    ]

    private static let ofGoogle = [
        google("google_requests_lost", "Google's token requests do not arrive", .token) {
            $0.loss = .request
        },
        google("google_answers_lost", "siwa's answers to Google's token requests are lost", .token) {
            $0.loss = .response
        },
        google("google_slow", "Google's token requests arrive 5 s late", .token) {
            $0.delayMilliseconds = 5000
        },
        google("google_reports_refused", "Google refuses reports of events (500)", .report) {
            $0.status = 500
        },
        google("google_keys_unreachable", "Google's keys cannot be fetched (503)", .certs) {
            $0.status = 503
        },
    ]

    private static let ofReceivers = [
        FaultSwitch(
            name: "webhook_down", title: "The webhook is down",
            place: .receiver(.webhook, ReceiverFault(.down))),
        FaultSwitch(
            name: "webhook_fails", title: "The webhook answers 500",
            place: .receiver(.webhook, ReceiverFault(.error))),
        FaultSwitch(
            name: "webhook_slow", title: "The webhook answers after 3 s",
            place: .receiver(.webhook, ReceiverFault(.slow))),
        FaultSwitch(
            name: "webhook_hangs", title: "The webhook hangs",
            place: .receiver(.webhook, ReceiverFault(.hang))),
        FaultSwitch(
            name: "push_down", title: "The receiver of security event tokens is down",
            place: .receiver(.push, ReceiverFault(.down))),
        FaultSwitch(
            name: "push_certificate",
            title: "The receiver of security event tokens shows a wrong certificate",
            place: .receiver(.push, ReceiverFault(.wrongCertificate))),
    ]

    private static func apple(
        _ name: String, _ title: String, _ endpoint: EmulatedEndpoint, _ set: (inout EndpointFault) -> Void
    ) -> FaultSwitch {
        var fault = EndpointFault()
        set(&fault)
        return FaultSwitch(name: name, title: title, place: .apple(endpoint, fault))
    }

    private static func google(
        _ name: String, _ title: String, _ place: FaultPlace, _ set: (inout GoogleFault) -> Void
    ) -> FaultSwitch {
        var fault = GoogleFault()
        set(&fault)
        return FaultSwitch(name: name, title: title, place: .google(place, fault))
    }
}
