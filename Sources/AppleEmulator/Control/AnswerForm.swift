import HTTPTypes
import Hummingbird

/// JSON for programs, plain text for a shell without a JSON reader. A minted identity token has a third form: the body of a
/// sign-in, as an app's backend would post it on.
enum AnswerForm: String, CaseIterable {
    case json, text
    case signIn = "sign-in"

    /// `?format=` decides, else an `Accept` that asks for plain text. Throws `.parameterMalformed`.
    init(of request: Request) throws(EmulatorError) {
        if let wanted = request.uri.queryParameters["format"] {
            guard let form = AnswerForm(rawValue: String(wanted)) else {
                throw EmulatorError(
                    .parameterMalformed, detail: "format: json or text, or sign-in for a token")
            }
            self = form
        } else {
            self = request.headers[.accept]?.hasPrefix("text/plain") == true ? .text : .json
        }
    }
}
