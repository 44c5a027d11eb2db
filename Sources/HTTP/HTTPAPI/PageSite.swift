package import HTTPEngine

/// Pages that have their paths on the port of the interface and are none of its calls: the console, in
/// development. They have checks, responses and log lines of their own.
package protocol PageSite: Sendable {
    /// True if the target is a page, and no call of the interface.
    func serves(_ target: RequestTarget) -> Bool

    /// - Parameter client: `nil` when the address is unknown.
    func handle(
        _ request: IncomingRequest, _ target: RequestTarget, from client: ClientAddress?
    ) -> (exchange: any HTTPExchange, source: ResponseSource)
}
