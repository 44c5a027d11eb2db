import StrictJSON
import TokenMint

/// The forms in which the events of a notification can come. All of them are verified and kept.
enum NotificationForm: String, CaseIterable, Sendable {
    case textOfObject, textOfArray, object, array
    case indentedTextOfObject, indentedTextOfArray

    static let address = "relay7@hidden.example"
    static let masked = "r…@h…"

    /// A signed notification with an address.
    func token() throws -> String {
        let event = JSONValue.object(
            JSONObject([
                ("type", .string("email-disabled")), ("sub", .string(TokenMint.subject)),
                ("event_time", .integer(TokenMint.sampleTime * 1000)), ("email", .string(Self.address)),
                ("is_private_email", .string("true")),
            ]))
        var claims = TokenMint.notificationClaims()
        claims["events"] = events(event)
        return try TokenMint.shared.sign(claims)
    }

    private func events(_ event: JSONValue) -> JSONValue {
        func text(_ value: JSONValue, after space: String = "") -> JSONValue {
            .string(space + String(decoding: value.serialized(), as: UTF8.self))
        }
        return switch self {
        case .textOfObject: text(event)
        case .textOfArray: text(.array([event]))
        case .object: event
        case .array: .array([event])
        case .indentedTextOfObject: text(event, after: " \n\t")
        case .indentedTextOfArray: text(.array([event]), after: "\r\n ")
        }
    }
}
