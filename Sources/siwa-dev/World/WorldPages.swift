import Console
import EmulatorServer
import Pages

/// The pages about the fakes: people, exchanges, links, keys and the clock, faults, and Apple's
/// notifications. The people are invented, so the pages mask no values.
struct WorldPages: Sendable {
    /// Paths of the tabs below the console's root.
    enum Place {
        static let people = "/world"
        static let exchanges = "/world/exchanges"
        static let google = "/world/google"
        static let keys = "/world/keys"
        static let faults = "/world/faults"
        static let notifications = "/world/notifications"

        static let tabs = [
            ("People", people), ("Exchanges", exchanges), ("Google", google), ("Keys and clock", keys),
            ("Faults", faults), ("Notifications", notifications),
        ]
    }

    let world: DevelopmentFakes

    var pages: [ConsolePage] {
        peoplePages + exchangePages + googlePages + keyPages + faultPages + outboxPages + overviewPages
    }

    /// Returns a page with its heading, the tabs and the content.
    static func page(
        _ title: String, heading: String? = nil, at path: String, isLive: Bool = false,
        @PageBuilder _ content: () -> HTML
    ) -> ConsoleAnswer {
        let tabs = Place.tabs.map { ($0, "/console\($1)") }
        return .page(
            title, heading: "<h1>\(heading ?? title)</h1>", isLive: isLive,
            tabs: Tabs("Fake world", tabs, current: "/console\(path)"), content: content)
    }

    /// Returns a button for a form.
    ///
    /// - Parameters:
    ///   - sends: Field that the button adds to the form.
    ///   - unseen: End of the title, which only screen readers read.
    static func button(
        _ title: String, _ look: String? = nil, sends field: (name: String, value: String)? = nil,
        unseen: String? = nil
    ) -> HTML {
        let value = field.map { " name=\"\($0.name)\" value=\"\($0.value)\"" as HTML }
        let end = unseen.map { HTML.span("unseen", .text($0)) }
        return "<button\(HTML.class(look))\(value)>\(title)\(end)</button>"
    }

    /// Declares an action with its form's path. If it fails, the response is the reason in a sentence.
    static func action(
        _ path: String, _ carryOut: @escaping @Sendable (ConsoleRequest) async throws -> ConsoleAnswer
    ) -> ConsolePage {
        ConsolePage(.post, path, access: .development) { request in
            do {
                return try await carryOut(request)
            } catch let error as EmulatorError {
                return .refused(error.sentence)
            } catch let error as DevelopmentWorldError {
                return error.page.map { .redirect(to: $0, notice: error.description) }
                    ?? .refused(error.description)
            }
        }
    }
}

/// Reason why an action failed, as a sentence for the developer.
struct DevelopmentWorldError: Error, CustomStringConvertible {
    let description: String
    /// Path of the page with details, below the console's root; `nil` if the sentence says everything.
    let page: String?

    init(_ sentence: String, page: String? = nil) { (description, self.page) = (sentence, page) }
}

extension PostForm {
    /// - Parameters:
    ///   - path: The path below the console's root.
    ///   - fields: Hidden fields.
    init(
        to path: String, _ request: ConsoleRequest, look: String = "inline",
        _ fields: [(name: String, value: String)] = [], @PageBuilder _ content: () -> HTML
    ) {
        self.init(
            to: "/console\(path)", token: request.viewer.formToken, look: look, fields, content)
    }
}
