import AppleEmulator
import EmulatorServer
import GoogleEmulator
import HTTPAPI
import ReceiverEmulator

extension DevelopmentFakes {
    func advanceClock(bySeconds seconds: Int64) throws {
        try Self.explained { try apple.state.advanceClock(bySeconds: seconds) }
    }

    func change(_ change: WorldKeyChange, of party: ExchangeStep.Party, key: String?) async throws {
        do {
            switch (party, change) {
            case (.apple, .publish):
                _ = try await apple.state.addKey(keyID: nil, isPublished: true, signs: false)
            case (.apple, .sign):
                try apple.state.useKey(key ?? "", isPublished: true, signs: true)
            case (.apple, .retire): try apple.state.retireKey(key ?? "")
            case (.apple, .replaceAll): try await apple.state.replaceKeys()
            case (.google, .publish), (.google, .replaceAll): try google?.state.replaceSigningKey()
            case (.google, .sign), (.google, .retire), (.siwa, _), (.browser, _):
                throw DevelopmentWorldError("This key cannot be changed here.")
            }
        } catch let error as EmulatorError {
            throw DevelopmentWorldError(error.sentence)
        }
    }

    func holdNotifications(_ isHolding: Bool) throws {
        try Self.explained {
            var plan = apple.state.deliveryPlan
            plan.holds = isHolding
            try apple.state.setDeliveryPlan(plan)
        }
    }

    /// The exchanges that both fakes recorded, and the requests that siwa received from other programs,
    /// ordered by start time.
    var exchanges: [WorldExchange] {
        let ofApple = apple.state.exchanges
        let ofGoogle = google?.state.exchanges ?? []
        let received = ReceivedRequests(
            received?.all ?? [], knownFrom: Set((ofApple + ofGoogle).compactMap(\.requestID)))
        func shown(_ exchange: Exchange, of source: WorldExchange.Source) -> WorldExchange {
            WorldExchange(
                source: source, exchange: exchange,
                requestNumber: exchange.requestID.flatMap { received.numbers[$0] })
        }
        let all =
            ofApple.map { shown($0, of: .apple) } + ofGoogle.map { shown($0, of: .google) }
            + received.exchanges
        return all.sorted { ($0.begin, $0.id) < ($1.begin, $1.id) }
    }

    // MARK: - Faults

    /// The available faults, in the order that pages list them. Google's faults require its client, and a
    /// receiver's faults require its URL.
    var faults: [FaultSwitch] {
        let urls = receivers.state.urls
        return FaultSwitch.all.filter { fault in
            switch fault.place {
            case .apple: true
            case .google: google != nil
            case .receiver(let receiver, let value):
                urls[receiver].map { value.kind != .wrongCertificate || $0.hasPrefix("https:") } ?? false
            }
        }
    }

    func isOn(_ fault: FaultSwitch) -> Bool {
        switch fault.place {
        case .apple(let endpoint, let value): apple.state.faults[endpoint] == value
        case .google(let place, let value): google?.state.faults[place] == value
        case .receiver(let receiver, let value): receivers.state.faults[receiver] == value
        }
    }

    /// Switches a fault on or off, and returns the fault. Does nothing if the fault already has this state.
    /// Returns `nil` if no fault has this name.
    func switchFault(named name: String, isOn: Bool) async throws -> FaultSwitch? {
        guard let fault = faults.first(where: { $0.name == name }) else { return nil }
        switch fault.place {
        case .apple(let endpoint, let value): apple.state.setFault(isOn ? value : nil, on: endpoint)
        case .google(let place, let value): google?.state.setFault(isOn ? value : nil, at: place)
        case .receiver(let receiver, let value):
            guard isOn else {
                await receivers.state.recover(receiver)
                break
            }
            try Self.explained { try receivers.state.setFault(value, of: receiver) }
        }
        return fault
    }
}

extension DevelopmentFakes {
    /// Returns the people who match a search, newest first.
    ///
    /// - Parameter search: Words from the name, the address, the relay address or the user ID; empty for all
    ///   people.
    func people(matching search: String) -> [EmulatedUser] {
        apple.state.users.reversed().filter { $0.matches(search) }
    }

    /// Returns `nil` if nobody has this user ID.
    func person(_ subject: String) -> EmulatedUser? { try? apple.state.user(subject) }

    func make(_ recipe: UserRecipe) throws -> EmulatedUser {
        try Self.explained { try apple.state.makeUser(recipe) }
    }

    /// Changes a person's values to the values in a recipe. The address cannot be changed.
    func edit(_ subject: String, _ recipe: UserRecipe) throws {
        try Self.explained {
            var edit = UserEdit(try apple.state.user(subject))
            (edit.firstName, edit.lastName) = (recipe.firstName, recipe.lastName)
            (edit.hidesEmail, edit.realUserStatus) = (recipe.hidesEmail, recipe.realUserStatus)
            try apple.state.edit(subject, edit)
        }
    }
}

extension UserRecipe {
    /// Name of the user that every fake Apple has.
    static let usual = "default"
}

/// Names for people whom a button creates.
enum InventedName {
    private static let first = [
        "Nora", "Emil", "Aylin", "Jan", "Layla", "Tomasz", "Mei", "Samuel", "Ines", "Ravi", "Zofia", "Omar",
    ]
    private static let last = ["Quist", "Berg", "Demir", "Nowak", "Haddad", "Silva", "Tanaka"]

    static func number(_ number: Int) -> (first: String, last: String) {
        // 12 and 7 have no common divisor, so 84 people have different names.
        (first[number % first.count], last[number % last.count])
    }
}

extension EmulatorError {
    /// The reason as a sentence for the developer. A reason that no console form can cause is shown as its
    /// code.
    var sentence: String {
        switch code {
        case .keyNotFound: "The key is not there any more. Load the page again."
        case .tooManyKeys: "There are as many keys as the fake keeps. Retire one first."
        case .noSigningKey: "All keys are retired, so nothing can be signed. Let a key sign first."
        case .userNotFound: "There is no such person any more."
        case .userExists: "A person with this user ID or address exists already."
        case .tooManyUsers: "There are as many people as the fake Apple keeps."
        case .clientIDUnknown: "The fake Apple does not know the client ID of the app."
        case .notificationURLMissing: "The fake Apple does not know where to send notifications."
        case .linkNotFound: "There is no such link any more."
        case .tokenMissing: "The link has no token for this: it was never made, or has ended."
        case .serverMissing: "The fake Google does not know the service yet."
        case .memberMalformed, .characterNotAllowed:
            "A value cannot be used" + (detail.isEmpty ? "." : ": \(detail).")
        case _:
            "Not possible: \(code.name.split(separator: "_").joined(separator: " "))"
                + (detail.isEmpty ? "." : " (\(detail)).")
        }
    }
}
