import NIOHTTP1

/// The method of a route (RFC 9110 §9.3).
enum RouteMethod: Sendable {
    case get, post, delete

    /// Returns `true` if a request with this method matches the route. `HEAD` is `GET` without the body.
    func isMeant(by method: HTTPMethod) -> Bool {
        switch self {
        case .get: method == .GET || method == .HEAD
        case .post: method == .POST
        case .delete: method == .DELETE
        }
    }

    /// The method in the `Allow` field.
    var allowed: String {
        switch self {
        case .get: "GET, HEAD"
        case .post: "POST"
        case .delete: "DELETE"
        }
    }
}
