import HTTPTypes
package import Hummingbird

extension Response {
    /// Redirects to another page, so that reloading does not repeat the action.
    package static func seeOther(_ path: String) -> Response {
        Response(status: .seeOther, headers: [.location: path, .cacheControl: "no-store"])
    }
}
