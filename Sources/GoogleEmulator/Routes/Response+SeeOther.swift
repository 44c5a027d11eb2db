import Hummingbird

extension Response {
    /// Another page, so that reloading does not repeat what was done.
    static func seeOther(_ path: String) -> Response {
        Response(status: .seeOther, headers: [.location: path, .cacheControl: "no-store"])
    }
}
