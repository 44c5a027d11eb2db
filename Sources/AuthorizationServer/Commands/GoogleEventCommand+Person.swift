extension GoogleEventCommand {
    /// The `sub` of the Google account that it is about. A security event token has one subject (RFC 8417
    /// §1.2), so the first that one of its changes names is that of all.
    package var googleSubject: String? { changes.lazy.compactMap(\.googleSubject).first }
}

extension GoogleEventCommand.Change {
    var googleSubject: String? {
        switch self {
        case .endGrants(let subject, _), .disable(let subject, _), .enable(let subject, _): subject
        case .endToken, .other: nil
        }
    }
}
