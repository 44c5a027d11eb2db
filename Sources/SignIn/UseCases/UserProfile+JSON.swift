public import StrictJSON

extension UserProfile {
    /// Fault of Apple's object.
    public enum Fault: Error, Sendable {
        case malformed
        /// A text has U+0000, which no database stores.
        case characterNotAllowed
    }

    /// Reads the JSON text of Apple's object, as Apple's form delivers it to a web page.
    public init(parsing text: String) throws(Fault) {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: Array(text.utf8))
        } catch {
            throw error.code == .characterNotAllowed ? .characterNotAllowed : .malformed
        }
        guard let object = value.object else { throw .malformed }
        try self.init(object)
    }

    /// Reads Apple's own object, `{"name":{"firstName","lastName"},"email"}`, as the app received it.
    ///
    /// Unknown members are ignored, because Apple may add members. Apple sends an empty name when the user
    /// removed it; an empty name is absent.
    public init(_ object: JSONObject) throws(Fault) {
        let name = try Self.object(object["name"])
        self.init(
            firstName: try Self.text(name?["firstName"]), lastName: try Self.text(name?["lastName"]),
            email: try Self.text(object["email"]))
    }

    private static func object(_ value: JSONValue?) throws(Fault) -> JSONObject? {
        switch value {
        case nil, .null: return nil
        case .object(let object): return object
        case .bool, .integer, .number, .string, .array: throw .malformed
        }
    }

    private static func text(_ value: JSONValue?) throws(Fault) -> String? {
        switch value {
        case nil, .null: return nil
        case .string(let text) where text.isEmpty: return nil
        case .string(let text) where text.utf8.count <= longestText: return text
        case .string, .bool, .integer, .number, .array, .object: throw .malformed
        }
    }

    /// Bound in bytes. Nothing else checks these names, and they are stored for as long as the account.
    private static let longestText = 1024
}
