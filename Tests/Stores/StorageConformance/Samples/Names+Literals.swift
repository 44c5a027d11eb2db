public import AppleAccounts

// Tests write names as literals. One that is no name is a mistake in the test.

extension TeamID: ExpressibleByStringLiteral {
    public init(stringLiteral text: String) {
        guard let name = TeamID(text) else { preconditionFailure("not a team ID: \(text)") }
        self = name
    }
}

extension ClientID: ExpressibleByStringLiteral {
    public init(stringLiteral text: String) {
        guard let name = ClientID(text) else { preconditionFailure("not a client ID: \(text)") }
        self = name
    }
}

extension ReceiverName: ExpressibleByStringLiteral {
    public init(stringLiteral text: String) {
        guard let name = ReceiverName(text) else { preconditionFailure("not a receiver's name: \(text)") }
        self = name
    }
}

extension AppleSubject: ExpressibleByStringInterpolation {
    public init(stringLiteral text: String) {
        guard let name = AppleSubject(text) else { preconditionFailure("not a subject: \(text)") }
        self = name
    }
}

extension InboxIdentifier: ExpressibleByStringInterpolation {
    public init(stringLiteral text: String) {
        guard let name = InboxIdentifier(text) else { preconditionFailure("not an identifier: \(text)") }
        self = name
    }
}

extension Moment: ExpressibleByIntegerLiteral {
    /// Milliseconds.
    public init(integerLiteral milliseconds: Int64) {
        self.init(milliseconds: milliseconds)
    }
}
