/// The pages of the fake world, in `siwa dev` alone: its people, what it says to siwa, its keys and its clock, its
/// faults, and Apple's notifications.
public struct WorldPages: Sendable {
    let world: any FakeWorld

    public init(_ world: any FakeWorld) { self.world = world }

    public var pages: [ConsolePage] {
        peoplePages + exchangePages + googlePages + keyPages + faultPages + outboxPages
    }

    /// Answers a form: a sentence on the next page, or the reason for which nothing has happened.
    static func act(
        then path: String, _ action: () async throws -> String?
    ) async throws -> ConsoleAnswer {
        do {
            return .redirect(to: path, notice: try await action())
        } catch let error as DevelopmentWorldError {
            return error.answer
        }
    }
}

/// A page of the fake world among the others.
struct WorldTabs: Sendable {
    struct Tab: Sendable {
        let title: String
        let href: String
        let isCurrent: Bool
    }

    /// The raw value is the path below the console's root.
    enum Place: String, CaseIterable {
        case people = "/world"
        case exchanges = "/world/exchanges"
        case google = "/world/google"
        case keys = "/world/keys"
        case faults = "/world/faults"
        case notifications = "/world/notifications"

        var title: String {
            switch self {
            case .people: "People"
            case .exchanges: "Exchanges"
            case .google: "Google"
            case .keys: "Keys and clock"
            case .faults: "Faults"
            case .notifications: "Notifications"
            }
        }
    }

    let tabs: [Tab]

    init(_ current: Place) {
        tabs = Place.allCases.map { place in
            Tab(title: place.title, href: "/console\(place.rawValue)", isCurrent: place == current)
        }
    }
}

/// Words of a search, cut to what a search takes.
enum WorldSearch {
    /// Bytes.
    static let longest = 320

    static func words(of request: ConsoleRequest) -> String {
        String(decoding: (request.query["find"] ?? "").utf8.prefix(longest), as: UTF8.self)
    }
}
