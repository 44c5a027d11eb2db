import StrictJSON

/// The browser's destination after its return from Apple.
enum WebDestination: Sendable, Hashable {
    /// The app's own page, with the `state` of its link, percent-encoded as the page wrote it.
    case appPage(state: String?)
    /// The authorization endpoint of this service, with the unchanged query of the request in progress.
    case authorization(query: String)
    /// The user's page about connected clients, with its query.
    case connections(query: String)
    /// The page for the users of devices, with its query.
    case device(query: String)

    init(json: JSONValue) {
        if let query = json["query"]?.string {
            self = .authorization(query: query)
        } else if let query = json["connections"]?.string {
            self = .connections(query: query)
        } else if let query = json["device"]?.string {
            self = .device(query: query)
        } else {
            self = .appPage(state: json["state"]?.string)
        }
    }
}

extension WebDestination {
    /// True if the browser gets a session of this service there, and no code for an app's page.
    var givesSession: Bool {
        switch self {
        case .appPage: false
        case .authorization, .connections, .device: true
        }
    }
}

extension JSONWriter {
    mutating func members(of destination: WebDestination) {
        switch destination {
        case .appPage(let state): member("state", ifPresent: state)
        case .authorization(let query): member("query", query)
        case .connections(let query): member("connections", query)
        case .device(let query): member("device", query)
        }
    }
}
