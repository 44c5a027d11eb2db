import Encodings

/// Decides about the requests to the loopback address. Accepts a single authorization response (RFC 8252
/// §7.3, §8.10).
///
/// Any program on this machine, and any page in the browser, can send requests to this address.
struct CallbackExchange {
    /// A request line and `Host`.
    struct Request {
        let method: String
        /// Path and query, as received.
        let target: String
        let hosts: [String]
    }

    enum Reply: Equatable {
        /// Shows the page, and goes on waiting.
        case page(CallbackPage)
        /// Shows the page, and ends the wait with this refusal.
        case response(CallbackPage, AuthorizationResponse)
        /// Ends the wait with this code. The browser gets its page when the tokens have been verified.
        case held(AuthorizationResponse)
    }

    let expectation: AuthorizationResponse.Expectation
    /// `127.0.0.1:PORT` or `[::1]:PORT`.
    let host: String
    /// Begins with a slash.
    let path: String
    private(set) var isAnswered = false
    /// Number of requests with the `state` of another sign-in.
    private(set) var otherStates = 0

    init(expectation: AuthorizationResponse.Expectation, host: String, path: String) {
        (self.expectation, self.host, self.path) = (expectation, host, path)
    }

    mutating func reply(to request: Request) -> Reply {
        // A page of another site can let its own name resolve to this machine (DNS rebinding).
        guard request.hosts.count == 1, request.hosts[0].lowercased().isByteEqual(to: host) else {
            return .page(.otherHost)
        }
        let place = request.target.prefix { $0 != "?" }
        guard String(place).isByteEqual(to: path) else { return .page(.nothingHere) }
        guard request.method == "GET" else { return .page(.otherMethod) }
        guard !isAnswered else { return .page(.alreadyAnswered) }
        let query = String(request.target.dropFirst(place.count + 1))
        let response = AuthorizationResponse(query: query, expecting: expectation)
        switch response {
        case .unrelated: return .page(.nothingHere)
        case .otherState:
            otherStates += 1
            return .page(.otherState)
        case .code:
            isAnswered = true
            return .held(response)
        case .refused(let error):
            isAnswered = true
            return .response(.failed(error.message), response)
        }
    }
}
