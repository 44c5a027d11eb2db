import StrictJSON

/// The JSON type of the `events` claim. Apple sends a string; its documentation shows the other two.
public enum EventsForm: String, Sendable, CaseIterable {
    /// A JSON string that holds one object.
    case string
    case object
    case array

    func claim(_ event: JSONObject) -> JSONValue {
        switch self {
        case .string: .string(String(decoding: JSONValue.object(event).serialized(), as: UTF8.self))
        case .object: .object(event)
        case .array: .array([.object(event)])
        }
    }
}
