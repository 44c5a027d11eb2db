import AppleEmulator
import EmulatorServer
import GoogleEmulator
import ReceiverEmulator

/// A fault that the console can switch on and off, with its place and its values.
struct FaultSwitch: Sendable {
    enum Place: Sendable {
        case apple(EmulatedEndpoint, EndpointFault)
        case google(FaultPlace, GoogleFault)
        case receiver(EmulatedReceiver, ReceiverFault)
    }

    /// Group of a fault. The raw value is the group's title.
    enum Group: String, CaseIterable {
        case apple = "Apple"
        case google = "Google"
        case receivers = "Receivers of events"
    }

    /// Name of the fault. It is stable across versions, because forms and bookmarks contain it.
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

    /// The party whose keys the fault withholds; `nil` for other faults. The service continues with its
    /// cached keys until a token names an unknown key.
    var withheldKeysOf: ExchangeStep.Party? {
        switch place {
        case .apple(let endpoint, _): endpoint == .keys ? .apple : nil
        case .google(let place, _): place == .certs ? .google : nil
        case .receiver: nil
        }
    }

    /// Sentence shown after the fault has been switched on.
    var notice: String {
        withheldKeysOf == nil
            ? "The fault is on."
            : "The fault is on. siwa still has the keys in its cache, so sign-ins go on: replace all keys to see it."
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
        receiver("webhook_down", "The webhook is down", .webhook, .down),
        receiver("webhook_fails", "The webhook answers 500", .webhook, .error),
        receiver("webhook_slow", "The webhook answers after 3 s", .webhook, .slow),
        receiver("webhook_hangs", "The webhook hangs", .webhook, .hang),
        receiver("push_down", "The receiver of security event tokens is down", .push, .down),
        receiver(
            "push_certificate", "The receiver of security event tokens shows a wrong certificate", .push,
            .wrongCertificate),
    ]

    private static func receiver(
        _ name: String, _ title: String, _ receiver: EmulatedReceiver, _ kind: ReceiverFault.Kind
    ) -> FaultSwitch {
        FaultSwitch(name: name, title: title, place: .receiver(receiver, ReceiverFault(kind)))
    }

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
