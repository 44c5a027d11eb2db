import EmulatorServer
import HTTPTypes
import Hummingbird

/// The format of a response of the control API: JSON, or plain text for shell scripts. A minted identity
/// token has a third format, the body of a sign-in request to the service, and an attestation the body of the
/// request that registers its key.
enum ResponseFormat: String, CaseIterable {
    case json, text
    case signIn = "sign-in"
    case registration

    /// Reads the format from `?format=`, otherwise from `Accept: text/plain`; the default is JSON. Throws
    /// `.parameterMalformed`.
    init(of request: Request) throws(EmulatorError) {
        if let wanted = request.uri.queryParameters["format"] {
            guard let format = ResponseFormat(rawValue: String(wanted)) else {
                throw EmulatorError(
                    .parameterMalformed,
                    detail: "format: json or text, sign-in for a token, registration for a key")
            }
            self = format
        } else {
            self = request.headers[.accept]?.hasPrefix("text/plain") == true ? .text : .json
        }
    }
}
