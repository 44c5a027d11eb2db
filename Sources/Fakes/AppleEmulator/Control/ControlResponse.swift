import EmulatorServer
import HTTPTypes
import Hummingbird
import StrictJSON

/// A response of the control API in all formats. JSON ends with a line break for terminals; text is the bare
/// value, because scripts compare it.
struct ControlResponse {
    var status = HTTPResponse.Status.ok
    let json: JSONObject
    /// The most useful value of the response for a script.
    let text: String
    /// The body of a sign-in request, for identity tokens.
    var signIn: JSONObject?
    /// The body of the request that registers a key, for attestations.
    var registration: JSONObject?

    func response(_ format: ResponseFormat) -> Response {
        switch format {
        case .json: .json(json, status: status)
        case .signIn: .json(signIn ?? json, status: status)
        case .registration: .json(registration ?? json, status: status)
        case .text: .uncached(status, "text/plain;charset=utf-8", Array(text.utf8))
        }
    }
}
