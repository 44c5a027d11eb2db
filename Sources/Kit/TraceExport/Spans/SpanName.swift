/// The spans of this program beside those of requests, which have the method and the template of the path.
///
/// Every name is a line in a tracing system, so no name has a value in it.
public enum SpanName: String, Sendable, Hashable, CaseIterable {
    /// A request whose path is of no call.
    case request
    case verify
    case commitAccounts = "commit accounts"
    case commitGrants = "commit grants"
    case fetchKeys = "fetch keys"
    case callApple = "call Apple"
    case callGoogle = "call Google"
    case deliverEvent = "deliver event"
}
