/// The fake world of `siwa dev` as the overview uses it: its people act, and its services fail on demand.
///
/// Everything goes the way of a real person: through the pages and endpoints of the fakes and of this service,
/// so that what the console shows afterwards is what the service has stored.
public protocol DevelopmentWorld: Sendable {
    /// A person whom the service does not know signs in to the app.
    ///
    /// - Throws: `DevelopmentWorldError` when the person could not sign in.
    func newPersonSignsIn() async throws -> DevelopmentOutcome

    /// The person who signed in last links the account with Google. Without one, a new person does.
    ///
    /// - Throws: `DevelopmentWorldError`, also where no client of Google is configured.
    func linkWithGoogle() async throws -> DevelopmentOutcome

    /// The person who signed in last stops using the app in Apple's settings; Apple notifies the service.
    ///
    /// - Throws: `DevelopmentWorldError` when no person uses the app.
    func personStopsUsingTheApp() async throws -> DevelopmentOutcome

    /// The faults that can be switched, in the order of the page. The list is always the same.
    var faults: [DevelopmentFault] { get async }

    /// Switches a fault. Does nothing for a fault that is switched already.
    ///
    /// - Returns: False when there is no fault of this name.
    func switchFault(named name: String, isOn: Bool) async throws -> Bool
}

/// A fault of the fake Apple or of the fake Google that a developer can switch.
public struct DevelopmentFault: Sendable, Equatable {
    /// The same in every version, for forms, such as `apple_keys_unreachable`.
    public let name: String
    /// A short sentence, such as "Apple's keys cannot be fetched".
    public let title: String
    public let isOn: Bool
    /// The party whose keys the fault withholds; `nil` for another fault. The service goes on with the keys in its
    /// cache until it meets a key that is not among them.
    public let withheldKeysOf: WorldExchange.Party?

    public init(name: String, title: String, isOn: Bool, withheldKeysOf: WorldExchange.Party? = nil) {
        (self.name, self.title, self.isOn) = (name, title, isOn)
        self.withheldKeysOf = withheldKeysOf
    }

    /// The sentence after the fault was switched on.
    var notice: String {
        withheldKeysOf == nil
            ? "The fault is on."
            : "The fault is on. siwa still has the keys in its cache, so sign-ins go on: replace all keys to see it."
    }
}

/// The result of an action in the fake world.
public struct DevelopmentOutcome: Sendable, Equatable {
    /// A sentence for the developer, such as "Nora Quist has signed in".
    public let sentence: String
    /// The account that the action is about; `nil` if the service has none.
    public let account: String?

    public init(_ sentence: String, account: String? = nil) {
        (self.sentence, self.account) = (sentence, account)
    }
}

/// The reason for which an action in the fake world did not succeed, as a sentence for the developer.
public struct DevelopmentWorldError: Error, Sendable, Equatable, CustomStringConvertible {
    public let description: String
    /// The path, below the console's root, of the page that shows more; `nil` where the sentence is all.
    public let page: String?

    public init(_ sentence: String, page: String? = nil) { (description, self.page) = (sentence, page) }

    /// The answer to a form: the page that shows more with the sentence above it, or the sentence alone.
    var answer: ConsoleAnswer {
        page.map { .redirect(to: $0, notice: description) } ?? .refused(description)
    }
}
