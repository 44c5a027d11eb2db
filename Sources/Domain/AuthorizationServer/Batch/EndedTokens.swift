import Cryptography

/// The refresh tokens of one grant of whose end Google must be told, on the events that tell of their end: one
/// token for each event, because Google is told of each on its own. The last token goes with the grant, if the
/// grant ends.
struct EndedTokens {
    let tokens: [SHA512Digest]
    let endsGrant: Bool

    init(_ tokens: [SHA512Digest], endsGrant: Bool) {
        (self.tokens, self.endsGrant) = (tokens, endsGrant)
    }

    /// Makes the events in their order.
    ///
    /// - Parameter make: Gets the token, and true if the event is about the token alone.
    func events<Event>(_ make: (_ token: SHA512Digest?, _ isOnlyToken: Bool) -> Event) -> [Event] {
        guard endsGrant else { return tokens.map { make($0, true) } }
        return tokens.dropLast().map { make($0, true) } + [make(tokens.last, false)]
    }
}
