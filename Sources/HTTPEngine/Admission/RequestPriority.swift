/// Degree of overload at which a request is rejected.
enum RequestPriority: Sendable {
    /// Never: operators need the state of the service most when it is overloaded.
    case operations
    /// Late: Apple delivers a notification a few times only.
    case notification
    case ordinary
}
