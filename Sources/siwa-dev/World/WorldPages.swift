import Console

/// The pages of the fakes: people, exchanges, links, keys and the clock, faults, and Apple's notifications. The
/// people are invented, so the pages mask nothing.
struct WorldPages: Sendable {
    let world: DevelopmentFakes

    init(_ world: DevelopmentFakes) { self.world = world }

    var pages: [ConsolePage] {
        peoplePages + exchangePages + googlePages + keyPages + faultPages + outboxPages + overviewPages
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

/// The reason for which an action did not succeed, as a sentence for the developer.
struct DevelopmentWorldError: Error, Equatable, CustomStringConvertible {
    let description: String
    /// The path, below the console's root, of the page that shows more; `nil` where the sentence is all.
    let page: String?

    init(_ sentence: String, page: String? = nil) { (description, self.page) = (sentence, page) }

    /// The answer to a form: the page that shows more with the sentence above it, or the sentence alone.
    var answer: ConsoleAnswer {
        page.map { .redirect(to: $0, notice: description) } ?? .refused(description)
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
