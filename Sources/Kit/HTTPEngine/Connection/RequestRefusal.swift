/// A reason for which the engine refuses a request before it is complete. The connection closes after the response.
package enum RequestRefusal: Sendable {
    /// The received bytes are no request of HTTP/1.1, or one that two readers could understand differently.
    case malformed
    case headerTooLarge
    case bodyTooLarge
    /// The request did not arrive completely within `ServerLimits.requestTime`.
    case timedOut
    /// Too many requests or bytes wait already.
    case overloaded
}
