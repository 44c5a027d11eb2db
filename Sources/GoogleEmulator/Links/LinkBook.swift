/// A link that was begun: the authorization request that Google made.
struct BegunLink: Sendable, Equatable {
    let state: String
    let mode: AccountLink.Mode
    /// Repeated in the token request.
    let redirectURI: String
    let scope: String
    let userLocale: String?
    let loginHint: String?
    /// With PKCE.
    let verifier: String?
}

/// All links. Pure, and bounded: the oldest are dropped.
struct LinkBook: Sendable {
    static let capacity = 100

    private(set) var links: [AccountLink] = []
    private var begun: [BegunLink] = []
    private var lastID = 0

    mutating func begin(_ link: BegunLink) {
        if begun.count >= Self.capacity { begun.removeFirst() }
        begun.append(link)
    }

    /// Removes and returns the link that was begun with this state.
    mutating func takeBegun(_ state: String) -> BegunLink? {
        begun.firstIndex { $0.state == state }.map { begun.remove(at: $0) }
    }

    func begun(_ state: String) -> BegunLink? { begun.first { $0.state == state } }

    /// Adds a link with a new ID.
    @discardableResult
    mutating func add(_ mode: AccountLink.Mode, _ status: AccountLink.Status) -> AccountLink {
        lastID += 1
        if links.count >= Self.capacity { links.removeFirst() }
        let link = AccountLink(id: String(lastID), mode: mode, status: status)
        links.append(link)
        return link
    }

    /// - Parameter id: `nil` for the newest.
    func link(_ id: String?) throws(GoogleEmulatorError) -> AccountLink {
        guard let link = id == nil ? links.last : links.first(where: { $0.id == id }) else {
            throw GoogleEmulatorError(.linkNotFound, detail: id == nil ? "there is no link yet" : "")
        }
        return link
    }

    /// Does nothing when the link was dropped.
    mutating func change(_ id: String, _ body: (inout AccountLink) -> Void) {
        guard let index = links.firstIndex(where: { $0.id == id }) else { return }
        body(&links[index])
    }

    mutating func clear() { (links, begun) = ([], []) }
}
