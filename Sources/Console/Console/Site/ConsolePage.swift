public import AppleAccounts
public import Pages

/// One page of the console, or one action of it, with all its properties in one declaration. Navigation,
/// access, the protection of forms and the tests follow from the list of pages.
public struct ConsolePage: Sendable {
    public enum Method: String, Sendable {
        case get = "GET"
        /// An action: the form of a page with the token of the session, which is checked before `handle`.
        case post = "POST"
    }

    /// Operators that may open the page. It has no default, because a forgotten property would be dangerous.
    public enum Access: Sendable {
        /// Every operator. The page shows only the apps of the operator's key.
        case operators
        /// Operators whose key is for all apps: the page shows data that belongs to no app.
        case operatorsOfAllApps
        /// `siwa dev` alone.
        case development
    }

    /// The title in the navigation, and the place there.
    public typealias Entry = (title: String, order: Int)

    public let method: Method
    /// The path below the console's root with names in braces for its values, such as `/people/{account}`.
    public let path: String
    public let access: Access
    /// `nil` for a page that other pages link to.
    public let entry: Entry?
    /// Answers a request. Rows of the audit log that are written meanwhile name the operator.
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

/// Records an action of an operator in the audit log, and returns after the entry is durable. A page calls it
/// before it shows the data of the entry, and shows nothing if it throws: personal data is never shown
/// without a row of the audit log. Changes of accounts and receivers do not need it: the store writes their
/// rows in the transaction of the change.
public typealias ConsoleAudit = @Sendable (AuditEntry) async throws -> Void

/// A request of a signed-in operator, as a page sees it.
public struct ConsoleRequest: Sendable {
    public let requestID: String
    /// The decoded values of the names in the path.
    public internal(set) var parameters: [String: String] = [:]
    /// The decoded fields of the query; the first of a name counts.
    public internal(set) var query: [String: String] = [:]
    /// The decoded fields of the form; empty for GET.
    public internal(set) var form: [String: String] = [:]
    public let viewer: ConsoleViewer
    public let now: Moment

    /// The page of a long list that the request asks for. A text that no page has written asks for the first one.
    public var place: ListPlace {
        let fields = form.isEmpty ? query : form
        return ListPlace(fields["from"], order: fields["order"]) ?? ListPlace()
    }

    /// The page of a long list of a database, with its position; the first page for a position that cannot be read.
    func place<Position>(_ read: (String) -> Position?) -> (place: ListPlace, position: Position?) {
        guard let position = place.position.flatMap(read) else { return (ListPlace(order: place.order), nil) }
        return (place, position)
    }
}

extension [String: String] {
    /// Reads a field; `nil` for an empty one.
    ///
    /// - Parameter refusal: The sentence for a value that cannot be read, which ends the page.
    func value<Field>(
        _ name: String, or refusal: String, _ read: (String) -> Field?
    ) throws(ConsoleAnswer) -> Field? {
        guard let text = self[name], !text.isEmpty else { return nil }
        guard let value = read(text) else { throw .refused(refusal) }
        return value
    }
}

/// The operator of a request.
public struct ConsoleViewer: Sendable {
    /// The name of the API key, or `developer` in `siwa dev`.
    public let name: String
    /// The apps whose people the operator may see.
    public let scope: AppScope
    public let isDevelopment: Bool
    /// The token that each form sends back as the field `csrf`.
    public let formToken: String
}

/// The answer of a page. Functions that read the fields of a request can throw it.
public enum ConsoleAnswer: Error {
    /// The content of a page, for the frame of the console.
    ///
    /// - Parameter isLive: True if the page changes by itself: the script loads its `<main>` anew when the server says
    ///   so, and at most once a second.
    case page(_ title: String, isLive: Bool = false, HTML)
    /// A whole document for a frame of a page, with a policy of its own. Only pages of this console may frame it.
    case document(html: [UInt8], contentSecurityPolicy: String)
    /// After an action: a path below the console's root (303), with a sentence that the next page shows once.
    case redirect(to: String, notice: String? = nil)
    /// There is no such page or person, or this operator may not see it; the response is the same for both.
    case notFound
    /// The form was wrong: a page with the sentence, and the way back.
    case refused(String)

    /// Returns a page of blocks.
    public static func page(
        _ title: String, isLive: Bool = false, @PageBuilder content: () throws -> HTML
    ) rethrows -> ConsoleAnswer {
        .page(title, isLive: isLive, try content())
    }
}
