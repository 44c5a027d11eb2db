import AppleEmulator
import Composition
import Console
import EmulatorServer
import GoogleEmulator
import HTTPAPI
import ReceiverEmulator

extension DevelopmentFakes {
    var clock: (now: Int64, aheadBy: Int64) {
        (apple.state.now, apple.state.clockOffset / 1000)
    }

    func advanceClock(bySeconds seconds: Int64) throws {
        try Self.explained { try apple.state.advanceClock(bySeconds: seconds) }
    }

    var keys: [WorldKey] {
        let ofApple = apple.state.keys.map { held in
            WorldKey(
                party: .apple, id: held.key.keyID, isPublished: held.isPublished, signs: held.signs)
        }
        let ids = google?.state.keyIDs ?? []
        return ofApple
            + ids.map { id in
                WorldKey(party: .google, id: id, isPublished: true, signs: id == ids.last)
            }
    }

    func change(_ change: WorldKeyChange, of party: WorldExchange.Party, key: String?) async throws {
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

    var outbox: WorldOutbox {
        var names: [String: String] = [:]
        for user in apple.state.users {
            for identity in user.identities { names[identity.subject] = WorldPerson(user).name }
        }
        return WorldOutbox(
            isHolding: apple.state.deliveryPlan.holds,
            waiting: apple.state.waitingNotifications.map { waiting in
                let notification = waiting.notification
                return WorldOutbox.Waiting(
                    type: notification.type, name: names[notification.subject] ?? notification.subject,
                    isHeld: waiting.isHeld, attempts: waiting.attempts)
            },
            sent: apple.state.recentDeliveries.map { sent in
                WorldOutbox.Sent(
                    type: sent.type, name: names[sent.subject] ?? sent.subject, at: sent.postedAt,
                    outcome: sent.outcome)
            })
    }

    func holdNotifications(_ isHolding: Bool) throws {
        try Self.explained {
            var plan = apple.state.deliveryPlan
            plan.holds = isHolding
            try apple.state.setDeliveryPlan(plan)
        }
    }

    func releaseNotifications(_ order: WorldReleaseOrder) async -> Int {
        let order: ReleaseOrder =
            switch order {
            case .inOrder: .inOrder
            case .reversed: .reversed
            case .shuffled: .shuffled
            }
        return await apple.release(order).count
    }

    /// The exchanges of both fakes, and the requests that siwa received of everyone else, in the order of their
    /// beginning.
    var exchanges: [WorldExchange] {
        let ofApple = apple.state.exchanges
        let ofGoogle = google?.state.exchanges ?? []
        let received = ReceivedRequests(
            received?.all ?? [], knownFrom: Set((ofApple + ofGoogle).compactMap(\.requestID)))
        let all =
            ofApple.map { WorldExchange($0, of: "apple", received) }
            + ofGoogle.map { WorldExchange($0, of: "google", received) } + received.exchanges
        return all.sorted { ($0.begin, $0.id) < ($1.begin, $1.id) }
    }

    // MARK: - Faults

    var faultGroups: [WorldFaultGroup] {
        let set = FaultSettings(
            apple: apple.state.faults, google: google?.state.faults ?? [:], receivers: receivers.state.faults)
        let groups: [(title: String, place: FaultSwitch.Group)] = [
            ("Apple", .apple), ("Google", .google), ("Receivers of events", .receivers),
        ]
        return groups.compactMap { title, place in
            let faults = switches.filter { $0.group == place }.map { fault in
                DevelopmentFault(
                    name: fault.name, title: fault.title, isOn: fault.isOn(in: set),
                    withheldKeysOf: fault.withheldKeysOf)
            }
            return faults.isEmpty ? nil : WorldFaultGroup(title, faults)
        }
    }

    var faults: [DevelopmentFault] { faultGroups.flatMap(\.faults) }

    func switchFault(named name: String, isOn: Bool) async throws -> Bool {
        guard let fault = switches.first(where: { $0.name == name }) else { return false }
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
        return true
    }

    /// The faults that make sense here: Google's need its client, and a receiver's its URL.
    private var switches: [FaultSwitch] {
        let urls = receivers.state.urls
        return FaultSwitch.all.filter { fault in
            switch fault.place {
            case .apple: true
            case .google: hasGoogle
            case .receiver(let receiver, let value):
                urls[receiver].map { value.kind != .wrongCertificate || $0.hasPrefix("https:") } ?? false
            }
        }
    }
}

extension WorldExchange {
    fileprivate init(_ exchange: Exchange, of emulator: String, _ received: ReceivedRequests) {
        self.init(
            id: "\(emulator)-\(exchange.number)", from: Party(exchange.step.from),
            to: Party(exchange.step.to), title: exchange.title, standard: exchange.step.standard,
            request: exchange.request, response: exchange.response, status: exchange.status, at: exchange.at,
            begin: exchange.span.begin, end: exchange.span.end, isRoutine: exchange.step.isRoutine,
            isOneWay: exchange.step.isOneWay,
            requestNumber: exchange.requestID.flatMap { received.numbers[$0] })
    }
}

extension WorldExchange.Party {
    init(_ party: ExchangeStep.Party) {
        self =
            switch party {
            case .browser: .browser
            case .google: .google
            case .siwa: .siwa
            case .apple: .apple
            }
    }
}
