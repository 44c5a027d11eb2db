import AppleEmulator
import EmulatorServer
import GoogleEmulator

extension EmulatorError {
    /// The reason as a sentence for the developer. Reasons that no form of the console can cause have their code.
    var sentence: String {
        switch code {
        case .keyNotFound: "The key is not there any more. Load the page again."
        case .tooManyKeys: "There are as many keys as the fake keeps. Retire one first."
        case .noSigningKey: "All keys are retired, so nothing can be signed. Let a key sign first."
        case .userNotFound: "There is no such person any more."
        case .userExists: "A person with this user ID or address exists already."
        case .tooManyUsers: "There are as many people as the fake Apple keeps."
        case .clientIDUnknown: "The fake Apple does not know the client ID of the app."
        case .notificationURLMissing: "The fake Apple does not know where to send notifications."
        case .linkNotFound: "There is no such link any more."
        case .tokenMissing: "The link has no token for this: it was never made, or has ended."
        case .serverMissing: "The fake Google does not know the service yet."
        case .memberMalformed, .characterNotAllowed:
            "A value cannot be used" + (detail.isEmpty ? "." : ": \(detail).")
        case _:
            "Not possible: \(code.name.split(separator: "_").joined(separator: " "))"
                + (detail.isEmpty ? "." : " (\(detail)).")
        }
    }
}
