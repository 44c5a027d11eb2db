import AppleEmulator
import Console
import EmulatorServer
import GoogleEmulator
import Pages
import ReceiverEmulator

extension WorldPages {
    var faultPages: [ConsolePage] {
        [
            ConsolePage(.get, Place.faults, access: .development, handle: faults),
            Self.action(Place.faults) { request in
                guard let name = request.form["fault"] else { return .refused("No fault is named.") }
                guard let fault = world.faults.first(where: { $0.name == name }) else {
                    return .refused("There is no fault of this name.")
                }
                let isOn = request.form["on"] == "1"
                try await fault.turn(isOn, world)
                // The overview page also has fault switches, so the action may return to that page.
                return .redirect(
                    to: request.form["then"] == Self.overview ? Self.overview : Place.faults,
                    notice: isOn ? fault.notice : "The fault is off.")
            },
        ]
    }

    private func faults(_ request: ConsoleRequest) -> ConsoleAnswer {
        Self.page("Faults", at: Place.faults) {
            "<p>A fault stays until it is switched off. One endpoint has one fault at a time.</p>"
            Division("grid") {
                for group in FaultSwitch.Group.allCases {
                    let faults = world.faults.filter { $0.group == group }
                    if !faults.isEmpty {
                        Card(.text(group.rawValue)) {
                            "<ul class=\"switches\">\(HTML(faults.map { item($0, request) }))</ul>"
                        }
                    }
                }
            }
        }
    }

    private func item(_ fault: FaultSwitch, _ request: ConsoleRequest) -> HTML {
        let isOn = fault.isOn(world) == true
        return HTML {
            "<li>"
            PostForm(
                to: Place.faults, request, look: "",
                [("fault", fault.name), ("on", isOn ? "0" : "1")]
            ) {
                """
                <button class="quiet" role="switch" aria-checked="\(isOn ? "true" : "false" as String)" \
                aria-label="\(fault.title)">\(isOn ? .span("bad", "On") : "Off" as HTML)</button> \
                <span>\(fault.title)</span>
                """
            }
            if isOn, let party = fault.withheldKeysOf {
                replacement(
                    of: party, then: Place.faults, request, look: "row",
                    "siwa still has the keys in its cache.")
            }
            "</li>"
        }
    }

    /// The service still has the party's keys in its cache, so this button replaces them to make the fault
    /// visible.
    private func replacement(
        of party: ExchangeStep.Party, then path: String, _ request: ConsoleRequest, look: String,
        _ words: String
    ) -> PostForm {
        PostForm(to: Place.keys, request, look: look, [("then", path), ("party", party.rawValue)]) {
            HTML.muted(words)
            Self.button("Replace all keys", "danger", sends: ("change", "replace-all"))
        }
    }
}

extension WorldPages {
    /// Returns the card for the overview: buttons for people, and the faults.
    func overviewCard(_ request: ConsoleRequest) -> HTML {
        func flip(_ fault: FaultSwitch, isOn: Bool) -> HTML {
            let word = isOn ? "Mend" : "Break"
            let fields = [("fault", fault.name), ("on", isOn ? "0" : "1"), ("then", Self.overview)]
            return PostForm(to: Place.faults, request, fields) {
                "<button class=\"quiet\" aria-label=\"\(word): \(fault.title)\">\(word)</button>"
            }.html
        }
        let faults = world.faults
        let active = faults.filter { $0.isOn(world) == true }
        return HTML {
            Card("Try it", id: "world") {
                Division("bar") {
                    PostForm(to: "/overview/sign-in", request) { Self.button("New person signs in") }
                    PostForm(to: "/overview/link", request) { Self.button("Link with Google") }
                    PostForm(to: "/overview/stop", request) { Self.button("Person stops using the app") }
                }
                if !active.isEmpty {
                    "<h3>Faults that are on</h3>"
                    "<ul class=\"switches\">"
                    for fault in active {
                        "<li><span class=\"badge warn\">on</span> \(fault.title) \(flip(fault, isOn: true))"
                        if let party = fault.withheldKeysOf {
                            replacement(
                                of: party, then: Self.overview, request, look: "bar",
                                "siwa still has the keys in its cache, so sign-ins go on. Replace all keys, and the "
                                    + "next sign-in needs one that siwa does not have.")
                        }
                        "</li>"
                    }
                    "</ul>"
                }
                Details("Break something", isOpen: !active.isEmpty) {
                    Table("Faults", [.head("Fault"), "State", "Switch"], faults) { fault in
                        let isOn = fault.isOn(world) == true
                        return [.text(fault.title), isOn ? "on" : "off", flip(fault, isOn: isOn)]
                    }
                }
            }
        }
    }

    /// The pages that carry out the card's actions.
    var overviewPages: [ConsolePage] {
        let actions: [(path: String, carryOut: @Sendable () async throws -> String)] = [
            ("/overview/sign-in", world.newPersonSignsIn), ("/overview/link", world.linkWithGoogle),
            ("/overview/stop", world.personStopsUsingTheApp),
        ]
        return actions.map { path, carryOut in
            Self.action(path) { _ in .redirect(to: Self.overview, notice: try await carryOut()) }
        }
    }

    static let overview = "/overview"
}

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
