public import AppleAccounts
public import Pages

/// A console page or one of its actions, with all its properties in one declaration. Navigation, access, form
/// protection and the tests derive from the list of pages.
public struct ConsolePage: Sendable {
    public enum Method: String, Sendable {
        case get = "GET"
        /// An action. Its form contains the session's token, which the console checks before calling
        /// `handle`.
        case post = "POST"
    }

    /// Operators who may open the page. There is no default, because a forgotten value would be dangerous.
    public enum Access: Sendable {
        /// Every operator. The page shows only the apps that the operator's key covers.
        case operators
        /// Operators whose key covers all apps, because the page shows data that belongs to no app.
        case operatorsOfAllApps
        /// Only in `siwa dev`.
        case development
    }

    /// Title and position in the navigation.
    public typealias Entry = (title: String, order: Int)

    public let method: Method
    /// The path below the console's root, with parameter names in braces, such as `/people/{account}`.
    public let path: String
    public let access: Access
    /// Navigation entry; `nil` for a page that only other pages link to.
    public let entry: Entry?
    /// Responds to a request. Audit log rows that the call writes name the operator.
    public let handle: @Sendable (ConsoleRequest) async throws -> ConsoleAnswer

    public init(
        _ method: Method, _ path: String, access: Access, entry: Entry? = nil,
        handle: @escaping @Sendable (ConsoleRequest) async throws -> ConsoleAnswer
    ) {
        (self.method, self.path, self.access, self.entry) = (method, path, access, entry)
        self.handle = { request in
            let origin = AuditOrigin(.consoleOperator(request.viewer.name), requestID: request.requestID)
            do {
                return try await AuditOrigin.$current.withValue(origin) { try await handle(request) }
            } catch let answer as ConsoleAnswer {
                return answer
            }
        }
    }
}

/// Records an operator's action in the audit log, and returns once the entry is durable. A page calls this
/// function before it shows personal data, and shows nothing if the function throws, so that the audit log
/// has a row for all data shown. Changes to accounts and receivers do not need this function, because the
/// store writes their rows in the same transaction.
public typealias ConsoleAudit = @Sendable (AuditEntry) async throws -> Void

/// A signed-in operator's request, as a page sees it.
public struct ConsoleRequest: Sendable {
    public let requestID: String
    /// Decoded path parameters by name.
    public internal(set) var parameters: [String: String] = [:]
    /// Decoded query fields. If a name is repeated, its first field is used.
    public internal(set) var query: [String: String] = [:]
    /// Decoded form fields; empty for GET.
    public internal(set) var form: [String: String] = [:]
    public let viewer: ConsoleViewer
    public let now: Moment

    /// The requested page of a long list. A value that cannot be parsed selects the first page.
    public var place: ListPlace {
        let fields = form.isEmpty ? query : form
        return ListPlace(fields["from"], order: fields["order"]) ?? ListPlace()
    }

    /// Returns the requested page of a long list from a database, with its position, or the first page if the
    /// position cannot be read.
    func place<Position>(_ read: (String) -> Position?) -> (place: ListPlace, position: Position?) {
        guard let position = place.position.flatMap(read) else { return (ListPlace(order: place.order), nil) }
        return (place, position)
    }
}

extension [String: String] {
    /// Reads a field; returns `nil` if it is empty.
    ///
    /// - Parameter refusal: The sentence to show instead of the page if the value cannot be read.
    func value<Field>(
        _ name: String, or refusal: String, _ read: (String) -> Field?
    ) throws(ConsoleAnswer) -> Field? {
        guard let text = self[name], !text.isEmpty else { return nil }
        guard let value = read(text) else { throw .refused(refusal) }
        return value
    }
}

/// The operator who sent a request.
public struct ConsoleViewer: Sendable {
    /// API key name, or `developer` in `siwa dev`.
    public let name: String
    /// The apps whose people the operator may see.
    public let scope: AppScope
    public let isDevelopment: Bool
    /// The token that each form sends back in the `csrf` field.
    public let formToken: String
}

/// A page's response. Functions that read a request's fields can throw it.
public enum ConsoleAnswer: Error {
    /// Page content, which the console puts into its frame.
    ///
    /// - Parameter isLive: True for a page with live updates. The script then reloads the page's `<main>`
    ///   when the server reports a change, but at most once a second.
    case page(_ title: String, isLive: Bool = false, HTML)
    /// A whole document for a frame inside a page, with its own policy. Only this console's pages may frame
    /// it.
    case document(html: [UInt8], contentSecurityPolicy: String)
    /// Redirects (303) after an action to a path below the console's root, which shows a sentence once.
    case redirect(to: String, notice: String? = nil)
    /// The page or person does not exist, or this operator may not see it. Both cases get the same response.
    case notFound
    /// Refuses a form: shows a page with the sentence and a link back.
    case refused(String)

    /// Returns a page that consists of a heading and blocks.
    ///
    /// - Parameters:
    ///   - heading: The heading in its place; by default the title.
    ///   - tabs: Links to related pages.
    public static func page(
        _ title: String, heading: HTML? = nil, isLive: Bool = false, tabs: Tabs? = nil,
        @PageBuilder content: () throws -> HTML
    ) rethrows -> ConsoleAnswer {
        let top = HTML {
            heading ?? "<h1>\(title)</h1>"
            tabs?.html
        }
        return .page(title, isLive: isLive, top + (try content()))
    }
}
