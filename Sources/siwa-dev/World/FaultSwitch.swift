import AppleEmulator
import EmulatorServer
import GoogleEmulator
import ReceiverEmulator

/// A fault that the console can switch on and off.
struct FaultSwitch: Sendable {
    /// Group of a fault. The raw value is the group's title.
    enum Group: String, CaseIterable {
        case apple = "Apple"
        case google = "Google"
        case receivers = "Receivers of events"
    }

    /// Name of the fault. It is stable across versions, because forms and bookmarks contain it.
    let name: String
    let title: String
    let group: Group
    /// The party whose keys the fault withholds; `nil` for other faults. The service continues with its
    /// cached keys until a token names an unknown key.
    var withheldKeysOf: ExchangeStep.Party?
    /// Returns the fault's state; `nil` if there is nothing here that can have the fault.
    let isOn: @Sendable (DevelopmentFakes) -> Bool?
    /// Switches the fault on or off. Does nothing if the fault already has this state.
    let turn: @Sendable (_ isOn: Bool, DevelopmentFakes) async throws -> Void

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

    private static func apple(
        _ name: String, _ title: String, _ endpoint: EmulatedEndpoint, _ set: (inout EndpointFault) -> Void
    ) -> FaultSwitch {
        var fault = EndpointFault()
        set(&fault)
        return FaultSwitch(
            name: name, title: title, group: .apple, withheldKeysOf: endpoint == .keys ? .apple : nil,
            isOn: { [fault] in $0.apple.state.faults[endpoint] == fault },
            turn: { [fault] in $1.apple.state.setFault($0 ? fault : nil, on: endpoint) })
    }

    private static func google(
        _ name: String, _ title: String, _ place: FaultPlace, _ set: (inout GoogleFault) -> Void
    ) -> FaultSwitch {
        var fault = GoogleFault()
        set(&fault)
        return FaultSwitch(
            name: name, title: title, group: .google, withheldKeysOf: place == .certs ? .google : nil,
            isOn: { [fault] in $0.google.map { $0.state.faults[place] == fault } },
            turn: { [fault] in $1.google?.state.setFault($0 ? fault : nil, at: place) })
    }

    private static func receiver(
        _ name: String, _ title: String, _ receiver: EmulatedReceiver, _ kind: ReceiverFault.Kind
    ) -> FaultSwitch {
        let fault = ReceiverFault(kind)
        return FaultSwitch(
            name: name, title: title, group: .receivers,
            isOn: { world in
                let state = world.receivers.state
                // Without https, there is no certificate that could be wrong.
                guard let url = state.urls[receiver], kind != .wrongCertificate || url.hasPrefix("https:")
                else { return nil }
                return state.faults[receiver] == fault
            },
            turn: { isOn, world in
                let state = world.receivers.state
                if isOn { try state.setFault(fault, of: receiver) } else { await state.recover(receiver) }
            })
    }
}
