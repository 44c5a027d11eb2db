/// Degree of overload at which a request is rejected.
package enum RequestPriority: Sendable {
    /// Never: operators need the state of the service most when it is overloaded.
    case operations
    /// Late: the sender of a notification repeats it a few times only.
    case notification
    case ordinary
}
