/// The interface that the engine serves, as one event loop uses it. Called on that loop only.
///
/// The engine knows connections and messages. Routes, callers, the form of errors, the log and the metrics belong
/// to the interface.
package protocol HTTPInterface: AnyObject {
    /// Takes on a complete request.
    ///
    /// - Parameters:
    ///   - client: The client, also behind named proxies; `nil` when they do not name it.
    ///   - gate: Decides about overload once the priority of the request is known.
    func handle(
        _ request: IncomingRequest, from client: ClientAddress?, gate: AdmissionGate
    ) -> (exchange: any HTTPExchange, source: ResponseSource)

    /// Makes the response to a request that is not complete and never will be.
    ///
    /// - Parameter request: `nil` when the header did not arrive.
    func refuse(
        _ refusal: RequestRefusal, of request: IncomingRequest?
    ) -> (exchange: any HTTPExchange, response: HTTPResponse)

    /// Submits the commands that were gathered since the last call.
    func submitGathered()

    func connectionOpened()
    func connectionClosed()

    /// Called when a request is done only after its client has received the response about the time limit.
    func requestFinishedLate()
}
