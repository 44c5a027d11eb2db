import EmulatorServer
import HTTPTypes
import Hummingbird
import StrictJSON

/// An error of Google's APIs (`google.rpc.Status`).
struct EventStreamRefusal: Error, Equatable {
    let status: Int
    /// The word of `google.rpc.Code`.
    let word: String
    let message: String
    /// `reason` of `google.rpc.ErrorInfo`.
    var reason: String?

    static let tokenRefused = EventStreamRefusal(
        status: 401, word: "UNAUTHENTICATED",
        message:
            "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie "
            + "or other valid authentication credential.")
    static let apiDisabled = EventStreamRefusal(
        status: 403, word: "PERMISSION_DENIED",
        message: "RISC API has not been used in this project before or it is disabled.",
        reason: "SERVICE_DISABLED")
    static let roleMissing = EventStreamRefusal(
        status: 403, word: "PERMISSION_DENIED", message: "The caller does not have permission")
    static let streamMissing = EventStreamRefusal(
        status: 404, word: "NOT_FOUND", message: "Requested entity was not found.")

    static func argument(_ message: String) -> EventStreamRefusal {
        EventStreamRefusal(status: 400, word: "INVALID_ARGUMENT", message: message)
    }

    /// The error of a fault.
    static func fault(_ status: Int) -> EventStreamRefusal {
        switch status {
        case 401: .tokenRefused
        case 403: .roleMissing
        case 404: .streamMissing
        case 429:
            EventStreamRefusal(status: 429, word: "RESOURCE_EXHAUSTED", message: "Quota exceeded.")
        default:
            EventStreamRefusal(status: status, word: "INTERNAL", message: "Internal error encountered.")
        }
    }

    var response: Response {
        var error = JSONObject([
            ("code", .integer(Int64(status))), ("message", .string(message)), ("status", .string(word)),
        ])
        if let reason {
            let info = JSONObject([
                ("@type", .string("type.googleapis.com/google.rpc.ErrorInfo")), ("reason", .string(reason)),
                ("domain", .string("googleapis.com")),
            ])
            error["details"] = .array([.object(info)])
        }
        return .json(JSONObject([("error", .object(error))]), status: .init(code: status))
    }
}
