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
        /// Every operator. What is shown is limited to the apps of the operator's key.
        case operators
        /// Operators whose key is for all apps: the page shows what belongs to no app.
        case operatorsOfAllApps
        /// `siwa dev` alone.
        case development
    }

    /// Place of the page in the navigation.
    public struct Entry: Sendable {
        public let title: String
        public let order: Int

        public init(_ title: String, order: Int) { (self.title, self.order) = (title, order) }
    }

    public let method: Method
    /// The path below the console's root with names in braces for its values, such as `/people/{account}`.
    public let path: String
    public let access: Access
    /// `nil` for a page that other pages link to.
    public let entry: Entry?
    public let handle: @Sendable (ConsoleRequest) async throws -> ConsoleAnswer

    public init(
        _ method: Method, _ path: String, access: Access, entry: Entry? = nil,
        handle: @escaping @Sendable (ConsoleRequest) async throws -> ConsoleAnswer
    ) {
        (self.method, self.path, self.access, self.entry) = (method, path, access, entry)
        self.handle = handle
    }
}
